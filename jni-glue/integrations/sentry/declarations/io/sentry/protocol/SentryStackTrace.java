package io.sentry.protocol;

import java.util.List;

/** Declares this class of sentry-java 6 and newer. */
public final class SentryStackTrace {
    public SentryStackTrace(List<SentryStackFrame> frames) {}
}
