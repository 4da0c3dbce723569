package com.google.firebase.crashlytics;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Declares this class of firebase-crashlytics 17 and newer. */
public class FirebaseCrashlytics {
    private static final FirebaseCrashlytics ONLY = new FirebaseCrashlytics();

    private final Map<String, String> keys = new HashMap<String, String>();

    private final List<Throwable> recorded = new ArrayList<Throwable>();

    private final List<Map<String, String>> recordedKeys = new ArrayList<Map<String, String>>();

    private FirebaseCrashlytics() {}

    public static FirebaseCrashlytics getInstance() {
        return ONLY;
    }

    public synchronized void setCustomKey(String key, String value) {
        keys.put(key, value);
    }

    /** The keys belong to this event alone. The SDK has this method in 19.3 and newer. */
    public synchronized void recordException(Throwable exception, CustomKeysAndValues keys) {
        recorded.add(exception);
        recordedKeys.add(keys.keys);
    }

    /** The keys of each recorded exception. Not part of the SDK: tests read this. */
    public synchronized List<Map<String, String>> recordedKeys() {
        return new ArrayList<Map<String, String>>(recordedKeys);
    }

    /** The recorded exceptions. Not part of the SDK: tests read this. */
    public synchronized List<Throwable> recorded() {
        return new ArrayList<Throwable>(recorded);
    }

    /** The custom keys. Not part of the SDK: tests read this. */
    public synchronized Map<String, String> keys() {
        return new HashMap<String, String>(keys);
    }
}
