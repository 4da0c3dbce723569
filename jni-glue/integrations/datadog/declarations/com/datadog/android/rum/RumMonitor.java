package com.datadog.android.rum;

import java.util.Map;

/** Declares this interface of dd-sdk-android-rum 3, with only the methods that are used here. */
public interface RumMonitor {
    void addErrorWithStacktrace(
            String message, RumErrorSource source, String stacktrace, Map<String, ? extends Object> attributes);

    void addViewAttributes(Map<String, ? extends Object> attributes);

    void addTiming(String name);
}
