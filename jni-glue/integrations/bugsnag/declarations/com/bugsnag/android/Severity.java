package com.bugsnag.android;

/** Declares this enum of bugsnag-android 5 and newer, with only the values that are used here. */
public enum Severity {
    WARNING
}
