package com.datadog.android.rum;

/** Of dd-sdk-android-rum 2 and newer; it has more of them. */
public enum RumErrorSource {
    SOURCE
}
