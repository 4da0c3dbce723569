package com.bugsnag.android;

/**
 * Declares this interface of bugsnag-android 5.9 and newer. Bugsnag calls it before it sends an event, either
 * in the process in which the event occurred or in a later one.
 */
public interface OnSendCallback {
    boolean onSend(Event event);
}
