package com.bugsnag.android;

/**
 * Declares this interface of bugsnag-android 5.9 and newer. It is called before an event is sent, at this
 * start or a later one.
 */
public interface OnSendCallback {
    boolean onSend(Event event);
}
