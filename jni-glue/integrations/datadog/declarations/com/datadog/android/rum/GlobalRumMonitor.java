package com.datadog.android.rum;

import java.util.Map;
import java.util.TreeMap;

/** Declares this Kotlin object of dd-sdk-android-rum 3. */
public final class GlobalRumMonitor {
    private GlobalRumMonitor() {}

    public static boolean isRegistered() {
        return true;
    }

    public static RumMonitor get() {
        return Monitor.ONLY;
    }

    /** What was given to the monitor. Not part of the SDK: tests read this. */
    public static Map<String, Object> reported() {
        return Monitor.ONLY.reported;
    }

    private static final class Monitor implements RumMonitor {
        static final Monitor ONLY = new Monitor();

        final Map<String, Object> reported = new TreeMap<String, Object>();

        @Override
        public synchronized void addErrorWithStacktrace(
                String message, RumErrorSource source, String stacktrace, Map<String, ? extends Object> attributes) {
            reported.put("error " + attributes.get("loopbox.kind"), message);
        }

        @Override
        public synchronized void addViewAttributes(Map<String, ? extends Object> attributes) {
            reported.putAll(attributes);
        }

        @Override
        public synchronized void addTiming(String name) {
            reported.put("written", reported.get("loopbox.digest"));
        }
    }
}
