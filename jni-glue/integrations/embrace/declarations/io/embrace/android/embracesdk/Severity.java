package io.embrace.android.embracesdk;

/** Of embrace-android-sdk, as of August 2026. */
public enum Severity {
    INFO,
    WARNING,
    ERROR
}
