package io.sentry.hints;

/** Of sentry-java 6.19 and newer: an event of the last process. */
public interface Backfillable {
    boolean shouldEnrich();
}
