package org.acra;

import java.util.Map;
import java.util.TreeMap;

/** Declares this Kotlin object of acra-core, as of June 2026. */
public final class ACRA {
    public static final ACRA INSTANCE = new ACRA();

    private static final Map<String, String> REPORTED = new TreeMap<String, String>();

    private ACRA() {}

    public boolean isInitialised() {
        return true;
    }

    public static ErrorReporter getErrorReporter() {
        return new ErrorReporter() {
            @Override
            public synchronized String putCustomData(String key, String value) {
                return REPORTED.put(key, value);
            }

            @Override
            public synchronized String removeCustomData(String key) {
                return REPORTED.remove(key);
            }

            @Override
            public synchronized void handleSilentException(Throwable e) {
                REPORTED.put("silent", e.getMessage());
                REPORTED.put("data", REPORTED.get("loopbox_kind") + " " + REPORTED.get("loopbox_file"));
                REPORTED.put("frames", Integer.toString(e.getStackTrace().length));
            }
        };
    }

    /** What was given to ACRA. Not part of the library: tests read this. */
    public static Map<String, String> reported() {
        return REPORTED;
    }
}
