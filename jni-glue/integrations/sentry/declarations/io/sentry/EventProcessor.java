package io.sentry;

/** Declares this interface of sentry-java 6 and newer. */
public interface EventProcessor {
    default SentryEvent process(SentryEvent event, Hint hint) {
        return event;
    }
}
