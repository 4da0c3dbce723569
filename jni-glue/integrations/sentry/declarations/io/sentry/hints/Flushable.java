package io.sentry.hints;

/**
 * Declares this interface of sentry-java 6 and newer. It lets a caller wait until the event is on the disk.
 */
public interface Flushable {
    boolean waitFlush();
}
