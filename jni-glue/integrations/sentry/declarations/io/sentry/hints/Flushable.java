package io.sentry.hints;

/** Of sentry-java 6 and newer: one may wait until the event is on the disk. */
public interface Flushable {
    boolean waitFlush();
}
