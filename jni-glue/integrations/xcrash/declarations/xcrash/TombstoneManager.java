package xcrash;

import java.util.Map;
import java.util.TreeMap;

/** Declares this class of xCrash, as of June 2025. */
public final class TombstoneManager {
    private static final Map<String, String> SECTIONS = new TreeMap<String, String>();

    private TombstoneManager() {}

    public static synchronized boolean appendSection(String logPath, String key, String content) {
        SECTIONS.put(logPath + " " + key, content);
        return true;
    }

    /** The sections that were appended. Not part of the library: tests read this. */
    public static synchronized Map<String, String> sections() {
        return new TreeMap<String, String>(SECTIONS);
    }
}
