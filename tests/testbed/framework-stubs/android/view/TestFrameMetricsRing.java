package android.view;

import android.os.Handler;
import java.lang.reflect.Field;
import java.lang.reflect.Method;

/**
 * The buffer between the render thread and one listener: it has room for three frames, as in HWUI. A frame
 * that finds no room is dropped and counted. The next frame with room reports how many were dropped.
 */
final class TestFrameMetricsRing implements Runnable {
    private static final int FRAMES = 3;

    final FrameMetricsObserver observer;
    private final Handler handler;
    private final FrameMetrics metrics;
    private final long[][] times = new long[FRAMES][];
    private final int[] dropsBefore = new int[FRAMES];
    private int free;
    private int oldest;
    private int dropped;

    TestFrameMetricsRing(FrameMetricsObserver observer, Handler handler) {
        this.observer = observer;
        this.handler = handler;
        try {
            Field field = FrameMetricsObserver.class.getDeclaredField("mFrameMetrics");
            field.setAccessible(true);
            metrics = (FrameMetrics) field.get(observer);
        } catch (ReflectiveOperationException changed) {
            throw new IllegalStateException(changed);
        }
    }

    /** Adds a frame. On the render thread. */
    void add(long[] frame) {
        synchronized (this) {
            if (times[free] != null) {
                dropped++;
                return;
            }
            times[free] = frame;
            dropsBefore[free] = dropped;
            dropped = 0;
            free = (free + 1) % FRAMES;
        }
        handler.post(this);
    }

    /** Passes a frame to the listener. On the listener's thread. */
    @Override
    public void run() {
        int drops;
        synchronized (this) {
            long[] frame = times[oldest];
            System.arraycopy(frame, 0, metrics.mTimingData, 0, frame.length);
            drops = dropsBefore[oldest];
            times[oldest] = null;
            oldest = (oldest + 1) % FRAMES;
        }
        try {
            Method notify = FrameMetricsObserver.class.getDeclaredMethod("notifyDataAvailable", int.class);
            notify.setAccessible(true);
            notify.invoke(observer, drops);
        } catch (ReflectiveOperationException failed) {
            throw new IllegalStateException(failed);
        }
    }
}
