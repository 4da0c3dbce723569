package io.sentry.protocol;

/** Declares this class of sentry-java 6 and newer. */
public final class Mechanism {
    public void setType(String value) {}

    public void setHandled(Boolean value) {}
}
