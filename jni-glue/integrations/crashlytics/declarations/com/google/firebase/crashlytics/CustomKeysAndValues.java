package com.google.firebase.crashlytics;

import java.util.Map;
import java.util.TreeMap;

/** Declares this class of firebase-crashlytics 19.3 and newer, with only the methods that are used here. */
public class CustomKeysAndValues {
    final Map<String, String> keys;

    private CustomKeysAndValues(Map<String, String> keys) {
        this.keys = keys;
    }

    /** Builds a {@code CustomKeysAndValues}. */
    public static class Builder {
        private final Map<String, String> keys = new TreeMap<String, String>();

        public Builder putString(String key, String value) {
            keys.put(key, value);
            return this;
        }

        public Builder putLong(String key, long value) {
            keys.put(key, Long.toString(value));
            return this;
        }

        public CustomKeysAndValues build() {
            return new CustomKeysAndValues(keys);
        }
    }
}
