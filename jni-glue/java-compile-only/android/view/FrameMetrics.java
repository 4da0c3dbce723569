package android.view;

/** Since API 24. */
public final class FrameMetrics {
    private FrameMetrics() {}

    public long getMetric(int id) {
        throw new UnsupportedOperationException();
    }
}
