// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** What the app has set about itself, for what is written on the Java side. Any thread. */
final class Annotations {
    private static final Map<String, String> KEPT = new ConcurrentHashMap<String, String>();

    private Annotations() {}

    /** A new recording begins with these names and values. */
    static void begin(List<String> annotations) {
        KEPT.clear();
        for (int at = 0; at + 1 < annotations.size(); at += 2) {
            put(annotations.get(at), annotations.get(at + 1));
        }
    }

    /** @param value null takes the name out again */
    static void put(String name, String value) {
        if (value == null) {
            KEPT.remove(name);
        } else if (name.equals("scene") || name.equals("user")) {
            KEPT.put(name, value);
        }
    }

    /** An empty text for nothing. */
    static String get(String name) {
        String value = KEPT.get(name);
        return value == null ? "" : value;
    }
}
