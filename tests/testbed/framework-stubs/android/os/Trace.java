package android.os;

import java.util.ArrayList;
import java.util.List;

/** No atrace: tags are off. */
public final class Trace {
    public static final long TRACE_TAG_VIEW = 1L << 3;

    /**
     * Name and nanoseconds of each section that has ended, where a bench wants them; else null. Main thread.
     */
    public static List<String> testSections;

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

    public static boolean isTagEnabled(long tag) { return false; }
    public static void traceBegin(long tag, String name) {}
    public static void traceEnd(long tag) {}
    public static void instant(long tag, String name) {}
    public static void instantForTrack(long tag, String track, String name) {}
    public static void asyncTraceForTrackBegin(long tag, String track, String name, int cookie) {}
    public static void asyncTraceForTrackEnd(long tag, String track, int cookie) {}
    public static void traceCounter(long tag, String name, int value) {}

    private Trace() {}
}
