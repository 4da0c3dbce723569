package org.acra;

import java.util.Map;
import java.util.TreeMap;

/** Of acra-core, as of June 2026. */
public final class ACRA {
    private static final Map<String, String> TOLD = new TreeMap<String, String>();

    private ACRA() {}

    public static ErrorReporter getErrorReporter() {
        return new ErrorReporter() {
            @Override
            public synchronized String putCustomData(String key, String value) {
                return TOLD.put(key, value);
            }

            @Override
            public synchronized String removeCustomData(String key) {
                return TOLD.remove(key);
            }

            @Override
            public synchronized void handleSilentException(Throwable e) {
                TOLD.put("silent", e.getMessage());
                TOLD.put("data", TOLD.get("loopbox"));
                TOLD.put("frames", Integer.toString(e.getStackTrace().length));
            }
        };
    }

    /** Not of the library: what a test asks for. */
    public static Map<String, String> told() {
        return TOLD;
    }
}
