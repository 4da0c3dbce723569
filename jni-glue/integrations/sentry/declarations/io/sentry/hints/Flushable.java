package io.sentry.hints;

/** Of sentry-java 6 and newer: lets a caller wait until the event is on the disk. */
public interface Flushable {
    boolean waitFlush();
}
