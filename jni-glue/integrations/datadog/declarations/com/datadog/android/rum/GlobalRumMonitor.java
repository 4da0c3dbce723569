package com.datadog.android.rum;

import java.util.Map;
import java.util.TreeMap;

/** Of dd-sdk-android-rum, as of May 2026. */
public final class GlobalRumMonitor {
    private GlobalRumMonitor() {}

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
        public synchronized void addError(
                String message, RumErrorSource source, Throwable throwable, Map<String, ? extends Object> attributes) {
            told.put("error " + attributes.get("loopbox.kind"), message);
        }

        @Override
        public synchronized void addAttribute(String key, Object value) {
            told.put(key, value);
        }
    }
}
