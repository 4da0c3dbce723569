package io.sentry;

/** Declares this enum of sentry-java 6 and newer, with only the values that are used here. */
public enum SentryLevel {
    ERROR
}
