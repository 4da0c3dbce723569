package io.embrace.android.embracesdk;

/** Declares this enum of embrace-android-sdk, as of August 2026. */
public enum Severity {
    INFO,
    WARNING,
    ERROR
}
