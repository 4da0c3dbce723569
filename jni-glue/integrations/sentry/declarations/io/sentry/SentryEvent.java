package io.sentry;

import java.util.HashMap;
import java.util.Map;

/** Of sentry-java 6 and newer. */
public final class SentryEvent {
    private final Map<String, Object> extras = new HashMap<String, Object>();

    public void setExtra(String key, Object value) {
        extras.put(key, value);
    }

    public Object getExtra(String key) {
        return extras.get(key);
    }
}
