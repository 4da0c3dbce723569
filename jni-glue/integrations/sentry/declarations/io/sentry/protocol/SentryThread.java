package io.sentry.protocol;

/** Declares this class of sentry-java 6 and newer. */
public final class SentryThread {
    public void setId(Long value) {}

    public void setName(String value) {}

    public void setMain(Boolean value) {}

    public void setCurrent(Boolean value) {}

    public void setCrashed(Boolean value) {}

    public void setStacktrace(SentryStackTrace value) {}
}
