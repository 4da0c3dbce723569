package io.sentry.hints;

/** Declares this interface of sentry-java 6.19 and newer, which marks an event of the last process. */
public interface Backfillable {
    boolean shouldEnrich();
}
