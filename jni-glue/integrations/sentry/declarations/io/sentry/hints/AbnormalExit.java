package io.sentry.hints;

/**
 * Declares this interface of sentry-java 6.19 and newer. For an event about an ANR, the object in the hint
 * implements it.
 */
public interface AbnormalExit {
    String mechanism();

    boolean ignoreCurrentThread();

    /** When the ANR happened: ApplicationExitInfo.getTimestamp(); null when Sentry's watchdog found it. */
    Long timestamp();
}
