package android.os;

/** A class of API 36, with tracing off. */
public final class PerfettoTrace {
    public static final class Category {}

    public static final Category MQ_CATEGORY = new Category();

    public static PerfettoTrackEventExtra.Builder begin(Category category, String name) { return new PerfettoTrackEventExtra.Builder(); }
    public static PerfettoTrackEventExtra.Builder counter(Category category, long value) { return new PerfettoTrackEventExtra.Builder(); }
    public static PerfettoTrackEventExtra.Builder end(Category category) { return new PerfettoTrackEventExtra.Builder(); }
    public static PerfettoTrackEventExtra.Builder instant(Category category, String name) { return new PerfettoTrackEventExtra.Builder(); }
    public static int getFlowId() { return 0; }

    private PerfettoTrace() {}
}
