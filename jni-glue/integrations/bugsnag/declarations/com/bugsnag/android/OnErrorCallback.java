package com.bugsnag.android;

/** Declares this interface of bugsnag-android 5 and newer. */
public interface OnErrorCallback {
    boolean onError(Event event);
}
