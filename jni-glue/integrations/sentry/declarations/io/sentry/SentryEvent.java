package io.sentry;

import io.sentry.protocol.DebugMeta;
import io.sentry.protocol.SentryException;
import io.sentry.protocol.SentryThread;
import java.util.Date;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Declares this class of sentry-java 6 and newer. */
public final class SentryEvent {
    private final Map<String, Object> extras = new HashMap<String, Object>();

    public SentryEvent() {}

    public SentryEvent(Date timestamp) {}

    public void setExtra(String key, Object value) {
        extras.put(key, value);
    }

    public Object getExtra(String key) {
        return extras.get(key);
    }

    public void setLevel(SentryLevel value) {}

    public void setPlatform(String value) {}

    public void setExceptions(List<SentryException> value) {}

    public void setThreads(List<SentryThread> value) {}

    public void setFingerprints(List<String> value) {}

    public void setEnvironment(String value) {}

    public void setRelease(String value) {}

    public void setDist(String value) {}

    public void setDebugMeta(DebugMeta value) {}
}
