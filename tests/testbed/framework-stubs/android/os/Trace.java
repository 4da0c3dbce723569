package android.os;

import java.util.ArrayList;
import java.util.List;

/** There is no atrace: all tags are off, except one that tests use. */
public final class Trace {
    public static final long TRACE_TAG_VIEW = 1L << 3;
    public static final long TRACE_TAG_APP = 1L << 12;

    /**
     * Each section that has ended: its name, and its duration in nanoseconds. Null unless a benchmark sets
     * it. Main thread.
     */
    public static List<String> testSections;

    /**
     * The name of each section that has begun with the app's tag. Null unless a test sets it. Main thread.
     * After {@code Looper.setTraceTag(TRACE_TAG_APP)} these are the Handler and the callback of each message.
     */
    public static List<String> testBegun;

    private static final List<String> OPEN = new ArrayList<String>();
    private static final List<Long> SINCE = new ArrayList<Long>();

    public static void beginSection(String name) {
        if (testSections != null) {
            OPEN.add(name);
            SINCE.add(System.nanoTime());
        }
    }

    public static void endSection() {
        int last = OPEN.size() - 1;
        if (testSections != null && last >= 0) {
            testSections.add(OPEN.remove(last) + ' ' + (System.nanoTime() - SINCE.remove(last)));
        }
    }

    public static boolean isTagEnabled(long tag) { return testBegun != null && tag == TRACE_TAG_APP; }

    public static void traceBegin(long tag, String name) {
        if (isTagEnabled(tag)) {
            testBegun.add(name);
        }
    }

    public static void traceEnd(long tag) {}
    public static void instant(long tag, String name) {}
    public static void instantForTrack(long tag, String track, String name) {}
    public static void asyncTraceForTrackBegin(long tag, String track, String name, int cookie) {}
    public static void asyncTraceForTrackEnd(long tag, String track, int cookie) {}
    public static void traceCounter(long tag, String name, int value) {}

    private Trace() {}
}
