package io.sentry.protocol;

/** Declares this class of sentry-java 6 and newer. */
public final class SentryException {
    public void setType(String value) {}

    public void setValue(String value) {}

    public void setThreadId(Long value) {}

    public void setStacktrace(SentryStackTrace value) {}

    public void setMechanism(Mechanism value) {}
}
