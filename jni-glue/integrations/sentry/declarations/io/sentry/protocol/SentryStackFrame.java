package io.sentry.protocol;

/** Declares this class of sentry-java 6 and newer. */
public final class SentryStackFrame {
    public void setModule(String value) {}

    public void setFunction(String value) {}

    public void setFilename(String value) {}

    public void setLineno(Integer value) {}

    public void setNative(Boolean value) {}

    public void setInApp(Boolean value) {}
}
