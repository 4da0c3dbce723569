package android.os;

import com.android.internal.dev.perfetto.sdk.PerfettoTrace;

/** Of API 37: tracing that is off. */
public final class PerfettoCategories {
    public static final PerfettoTrace.Category ANR_CATEGORY = new PerfettoTrace.Category();
    public static final PerfettoTrace.Category MQ_CATEGORY = new PerfettoTrace.Category();

    private PerfettoCategories() {}
}
