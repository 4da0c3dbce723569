package io.sentry.hints;

/** Of sentry-java 6.19 and newer: what an event is about is an ANR. */
public interface AbnormalExit {
    String mechanism();

    boolean ignoreCurrentThread();

    /** ApplicationExitInfo.getTimestamp(); null for the watchdog's. */
    Long timestamp();
}
