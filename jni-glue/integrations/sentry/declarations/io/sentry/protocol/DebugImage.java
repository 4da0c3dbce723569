package io.sentry.protocol;

/** Declares this class of sentry-java 6 and newer. */
public final class DebugImage {
    public static final String PROGUARD = "proguard";

    public void setType(String value) {}

    public void setUuid(String value) {}
}
