package com.bugsnag.android;

/** Of bugsnag-android 5 and newer. */
public interface OnErrorCallback {
    boolean onError(Event event);
}
