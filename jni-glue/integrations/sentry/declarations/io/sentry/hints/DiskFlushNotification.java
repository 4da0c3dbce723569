package io.sentry.hints;

/** Of sentry-java 6 and newer: is notified when an event is on the disk. */
public interface DiskFlushNotification {
    void markFlushed();
}
