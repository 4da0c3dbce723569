package com.bugsnag.android;

import java.util.ArrayList;
import java.util.Date;
import java.util.List;

/** Declares this class of bugsnag-android 5.9 and newer, with only the methods that are used here. */
public final class Bugsnag {
    private static final List<Event> NOTIFIED = new ArrayList<Event>();

    private Bugsnag() {}

    public static boolean isStarted() {
        return true;
    }

    public static synchronized void notify(Throwable error, OnErrorCallback callback) {
        Event event = new Event(new DeviceWithState(new Date()));
        event.getErrors().add(new Error(error.getClass().getName()));
        if (callback.onError(event)) {
            NOTIFIED.add(event);
        }
    }

    /** The events that Bugsnag was notified of. Not part of the SDK: tests read this. */
    public static synchronized List<Event> notified() {
        return new ArrayList<Event>(NOTIFIED);
    }
}
