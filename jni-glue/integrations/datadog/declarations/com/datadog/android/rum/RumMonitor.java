package com.datadog.android.rum;

import java.util.Map;

/** Of dd-sdk-android-rum 2 and newer; it has more methods. */
public interface RumMonitor {
    void addError(String message, RumErrorSource source, Throwable throwable, Map<String, ? extends Object> attributes);

    void addAttribute(String key, Object value);
}
