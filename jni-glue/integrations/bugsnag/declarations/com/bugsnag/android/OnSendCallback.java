package com.bugsnag.android;

/** Of bugsnag-android 5.9 and newer: called before an event is sent, at this start or a later one. */
public interface OnSendCallback {
    boolean onSend(Event event);
}
