package io.sentry;

import io.sentry.protocol.SentryException;
import java.util.Date;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Of sentry-java 6 and newer. */
public final class SentryEvent {
    private final Date timestamp;
    private final Map<String, Object> extras = new HashMap<String, Object>();
    private List<SentryException> exceptions;

    public SentryEvent(Date timestamp) {
        this.timestamp = timestamp;
    }

    public Date getTimestamp() {
        return timestamp;
    }

    public List<SentryException> getExceptions() {
        return exceptions;
    }

    public void setExceptions(List<SentryException> exceptions) {
        this.exceptions = exceptions;
    }

    public void setExtra(String key, Object value) {
        extras.put(key, value);
    }

    public Object getExtra(String key) {
        return extras.get(key);
    }
}
