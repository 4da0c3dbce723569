package com.android.internal.dev.perfetto.sdk;

/** A class of API 37, with tracing off. */
public final class PerfettoTrace {
    public static final class Category {
        public boolean isEnabled() { return false; }
    }

    public static PerfettoTrackEventBuilder begin(Category category, String name) { return new PerfettoTrackEventBuilder(); }
    public static PerfettoTrackEventBuilder counter(Category category, long value) { return new PerfettoTrackEventBuilder(); }
    public static PerfettoTrackEventBuilder end(Category category) { return new PerfettoTrackEventBuilder(); }
    public static PerfettoTrackEventBuilder instant(Category category, String name) { return new PerfettoTrackEventBuilder(); }
    public static PerfettoTrackEventBuilder expensiveDebugCallStack(
            Category category, String name, StackTraceElement[] stack) {
        return new PerfettoTrackEventBuilder();
    }
    public static void activateTrigger(String name, int ttlMs) {}
    public static int getFlowId() { return 0; }

    private PerfettoTrace() {}
}
