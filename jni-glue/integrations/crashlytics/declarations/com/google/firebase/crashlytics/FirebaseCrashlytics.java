package com.google.firebase.crashlytics;

import java.util.HashMap;
import java.util.Map;

/** Of firebase-crashlytics 17 and newer. */
public class FirebaseCrashlytics {
    private static final FirebaseCrashlytics ONLY = new FirebaseCrashlytics();

    private final Map<String, String> keys = new HashMap<String, String>();

    private FirebaseCrashlytics() {}

    public static FirebaseCrashlytics getInstance() {
        return ONLY;
    }

    public synchronized void setCustomKey(String key, String value) {
        keys.put(key, value);
    }

    /** Not of the SDK: what a test asks for. */
    public synchronized Map<String, String> keys() {
        return new HashMap<String, String>(keys);
    }
}
