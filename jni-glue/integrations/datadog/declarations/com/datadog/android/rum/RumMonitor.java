package com.datadog.android.rum;

import java.util.Map;

/** Of dd-sdk-android-rum 3; it has more methods. */
public interface RumMonitor {
    void addErrorWithStacktrace(
            String message, RumErrorSource source, String stacktrace, Map<String, ? extends Object> attributes);

    void addViewAttributes(Map<String, ? extends Object> attributes);

    void addTiming(String name);
}
