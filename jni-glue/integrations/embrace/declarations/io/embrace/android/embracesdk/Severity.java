package io.embrace.android.embracesdk;

/** Of embrace-android-sdk 7 and newer. */
public enum Severity {
    INFO,
    WARNING,
    ERROR
}
