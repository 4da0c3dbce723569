package com.datadog.android.rum;

/** Of dd-sdk-android-rum, as of May 2026; it has more of them. */
public enum RumErrorSource {
    SOURCE
}
