package android.os;

/** No atrace: tags are off. */
public final class Trace {
    public static final long TRACE_TAG_VIEW = 1L << 3;

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
