package io.sentry;

/** Of sentry-java 6 and newer. */
public interface EventProcessor {
    default SentryEvent process(SentryEvent event, Hint hint) {
        return event;
    }
}
