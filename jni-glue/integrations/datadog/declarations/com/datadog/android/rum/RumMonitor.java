package com.datadog.android.rum;

import java.util.Map;

/** Of dd-sdk-android-rum, as of May 2026; it has more methods. */
public interface RumMonitor {
    void addError(String message, RumErrorSource source, Throwable throwable, Map<String, ? extends Object> attributes);

    void addAttribute(String key, Object value);
}
