package android.os;

import com.android.internal.dev.perfetto.sdk.PerfettoTrace;

/** A class of API 37, with tracing off. */
public final class PerfettoCategories {
    public static final PerfettoTrace.Category ANR_CATEGORY = new PerfettoTrace.Category();
    public static final PerfettoTrace.Category MQ_CATEGORY = new PerfettoTrace.Category();

    private PerfettoCategories() {}
}
