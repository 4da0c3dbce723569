package io.sentry.hints;

/** Of sentry-java 6 and newer: who is to know that an event is on the disk. */
public interface DiskFlushNotification {
    void markFlushed();
}
