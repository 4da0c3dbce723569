package io.sentry.hints;

/** Declares this interface of sentry-java 6.19 and newer, which marks the object of an event about an ANR. */
public interface AbnormalExit {
    String mechanism();

    boolean ignoreCurrentThread();

    /** When the ANR happened: ApplicationExitInfo.getTimestamp(); null when Sentry's watchdog found it. */
    Long timestamp();
}
