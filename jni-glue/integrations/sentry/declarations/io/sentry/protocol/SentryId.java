package io.sentry.protocol;

/** Declares this class of sentry-java 6 and newer: the id of an event. */
public final class SentryId {
    public static final SentryId EMPTY_ID = new SentryId();
}
