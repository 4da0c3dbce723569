package io.sentry.hints;

/** Declares this interface of sentry-java 6 and newer. It is notified when an event is on the disk. */
public interface DiskFlushNotification {
    void markFlushed();
}
