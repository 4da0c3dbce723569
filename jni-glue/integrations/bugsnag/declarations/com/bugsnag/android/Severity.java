package com.bugsnag.android;

/** Of bugsnag-android 5 and newer; it has more of them. */
public enum Severity {
    WARNING
}
