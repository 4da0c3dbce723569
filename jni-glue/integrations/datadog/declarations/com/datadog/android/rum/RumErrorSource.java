package com.datadog.android.rum;

/** Of dd-sdk-android-rum 3; it has more of them. */
public enum RumErrorSource {
    SOURCE
}
