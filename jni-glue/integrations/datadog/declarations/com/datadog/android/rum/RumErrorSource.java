package com.datadog.android.rum;

/** Declares this enum of dd-sdk-android-rum 3, with only the values that are used here. */
public enum RumErrorSource {
    SOURCE
}
