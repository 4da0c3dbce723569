package com.datadog.android.rum;

import java.util.Map;
import java.util.TreeMap;

/** Of dd-sdk-android-rum 3: a Kotlin object. */
public final class GlobalRumMonitor {
    private GlobalRumMonitor() {}

    public static boolean isRegistered() {
        return true;
    }

    public static RumMonitor get() {
        return Monitor.ONLY;
    }

    /** Not of the SDK: what a test asks for. */
    public static Map<String, Object> told() {
        return Monitor.ONLY.told;
    }

    private static final class Monitor implements RumMonitor {
        static final Monitor ONLY = new Monitor();

        final Map<String, Object> told = new TreeMap<String, Object>();

        @Override
        public synchronized void addErrorWithStacktrace(
                String message, RumErrorSource source, String stacktrace, Map<String, ? extends Object> attributes) {
            told.put("error " + attributes.get("loopbox.kind"), message);
        }

        @Override
        public synchronized void addViewAttributes(Map<String, ? extends Object> attributes) {
            told.putAll(attributes);
        }

        @Override
        public synchronized void addTiming(String name) {
            told.put("written", told.get("loopbox.digest"));
        }
    }
}
