package io.sentry.protocol;

/** Of sentry-java 6 and newer: an event's. */
public final class SentryId {
    public static final SentryId EMPTY_ID = new SentryId();
}
