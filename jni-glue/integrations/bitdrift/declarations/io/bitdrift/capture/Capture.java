package io.bitdrift.capture;

import java.util.Map;
import java.util.TreeMap;

/**
 * Declares this Kotlin object of bitdrift's capture, as of August 2026. The object {@code Logger} is inside
 * it.
 */
public final class Capture {
    private Capture() {}

    /** The object with {@code addField}, which adds a field to every log from then on. */
    public static final class Logger {
        private static final Map<String, String> FIELDS = new TreeMap<String, String>();

        private Logger() {}

        public static void addField(String key, String value) {
            FIELDS.put(key, value);
        }

        /** The fields that were added. Not part of the SDK: tests read this. */
        public static Map<String, String> fields() {
            return FIELDS;
        }
    }
}
