package io.sentry;

/** Of sentry-java 6 and newer; it has more of them. */
public enum SentryLevel {
    ERROR
}
