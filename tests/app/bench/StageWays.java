package bench;

import android.content.Context;
import android.graphics.Canvas;
import android.os.Handler;
import android.view.FrameMetrics;
import android.view.View;
import android.view.Window;
import com.android.internal.policy.PhoneWindow;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListSet;

/** What is done with each FrameMetrics, as it is done elsewhere and by Loopbox. All of it on the listener's thread. */
final class StageWays {
    private static final long NANOS_PER_S = 1_000_000_000;
    private static final float HZ = 60;

    private StageWays() {}

    /** Reads what the main thread did for the frame; the wait for the render thread is not in it. */
    private static long mainNanos(FrameMetrics metrics) {
        return metrics.getMetric(FrameMetrics.UNKNOWN_DELAY_DURATION)
                + metrics.getMetric(FrameMetrics.INPUT_HANDLING_DURATION)
                + metrics.getMetric(FrameMetrics.ANIMATION_DURATION)
                + metrics.getMetric(FrameMetrics.LAYOUT_MEASURE_DURATION)
                + metrics.getMetric(FrameMetrics.DRAW_DURATION)
                + metrics.getMetric(FrameMetrics.SYNC_DURATION);
    }

    /** JankStats from Android 8 on: one listener for the window, which calls those of the app. It keeps one frame. */
    static final class JankStats implements Window.OnFrameMetricsAvailableListener {
        private final List<Window.OnFrameMetricsAvailableListener> delegates = new ArrayList<Window.OnFrameMetricsAvailableListener>();
        private final List<Object> states = new ArrayList<Object>();
        private final List<Object> statesOfFrame = new ArrayList<Object>();
        private final List<Object> singleFrameStates = new ArrayList<Object>();
        private boolean iterating;
        private long previousStart;
        private long previousEnd;
        private long start;
        private long mainNanos;
        private boolean isJank;
        private long janks;

        JankStats() {
            delegates.add(new Window.OnFrameMetricsAvailableListener() {
                @Override public void onFrameMetricsAvailable(Window window, FrameMetrics metrics, int drops) {
                    frame(metrics);
                }
            });
        }

        @Override public void onFrameMetricsAvailable(Window window, FrameMetrics metrics, int drops) {
            synchronized (this) {
                iterating = true;
                for (Window.OnFrameMetricsAvailableListener delegate : delegates) {
                    delegate.onFrameMetricsAvailable(window, metrics, drops);
                }
                iterating = false;
            }
            if (window.getDecorView() != null) {
                synchronized (singleFrameStates) {
                    singleFrameStates.clear();
                }
            }
        }

        private void frame(FrameMetrics metrics) {
            long begin = Math.max(metrics.getMetric(FrameMetrics.INTENDED_VSYNC_TIMESTAMP), previousEnd);
            if (begin == previousStart) {
                return;
            }
            long expected = (long) (NANOS_PER_S / HZ * 2);
            long took = mainNanos(metrics);
            previousEnd = begin + took;
            synchronized (singleFrameStates) {
                statesOfFrame.clear();
                addStates(states);
                addStates(singleFrameStates);
            }
            start = begin;
            mainNanos = took;
            isJank = took > expected;
            if (isJank) {
                janks++;
            }
            previousStart = begin;
        }

        private void addStates(List<Object> active) {
            for (int at = active.size() - 1; at >= 0; at--) {
                statesOfFrame.add(active.get(at));
            }
        }
    }

    /** Sentry's collector, with the listener that its spans have. */
    static final class Sentry implements Window.OnFrameMetricsAvailableListener {
        private static final int MOST = 3_600;
        private static final long OLDEST_NS = 5 * 60 * NANOS_PER_S;
        private static final long FROZEN_NS = 700_000_000;

        private interface Collected {
            void onFrame(long start, long end, long took, long delay, boolean isSlow, boolean isFrozen, float hz);
        }

        private static final class Frame implements Comparable<Frame> {
            private final long start;
            private final long end;
            private final long delay;

            Frame(long start, long end, long delay) {
                this.start = start;
                this.end = end;
                this.delay = delay;
            }

            @Override public int compareTo(Frame other) {
                int byEnd = Long.compare(end, other.end);
                return byEnd != 0 ? byEnd : Long.compare(start, other.start);
            }
        }

        private final ConcurrentSkipListSet<Frame> delayed = new ConcurrentSkipListSet<Frame>();
        private final ConcurrentSkipListSet<Frame> slow = new ConcurrentSkipListSet<Frame>();
        private final Map<String, Collected> listeners = new ConcurrentHashMap<String, Collected>();
        private long lastStart;
        private long lastEnd;
        private long expectedNanos;

        Sentry() {
            listeners.put("span", new Collected() {
                @Override public void onFrame(long start, long end, long took, long delay, boolean isSlow, boolean isFrozen, float hz) {
                    if (slow.size() > MOST) {
                        return;
                    }
                    expectedNanos = (long) (NANOS_PER_S / hz);
                    if (isSlow || isFrozen) {
                        slow.add(new Frame(start, end, delay));
                    }
                }
            });
        }

        @Override public void onFrameMetricsAvailable(Window window, FrameMetrics metrics, int drops) {
            long now = System.nanoTime();
            float hz = HZ;
            long expected = (long) (NANOS_PER_S / hz);
            long took = mainNanos(metrics);
            long delay = Math.max(0, took - expected);
            long start = metrics.getMetric(FrameMetrics.INTENDED_VSYNC_TIMESTAMP);
            if (start < 0) {
                start = now - took;
            }
            start = Math.max(start, lastEnd);
            if (start == lastStart) {
                return;
            }
            lastStart = start;
            lastEnd = start + took;
            boolean isSlow = took > (long) (NANOS_PER_S / (hz - 1));
            boolean isFrozen = isSlow && took > FROZEN_NS;
            if (delay > 0) {
                if (delayed.size() < MOST) {
                    delayed.add(new Frame(start, lastEnd, delay));
                }
                long oldest = lastEnd - OLDEST_NS;
                delayed.headSet(new Frame(oldest, oldest, 0)).clear();
            }
            for (Collected listener : listeners.values()) {
                listener.onFrame(start, lastEnd, took, delay, isSlow, isFrozen, hz);
            }
        }

        /** A span ends. */
        void end() {
            slow.clear();
        }
    }

    /** Matrix from Android 7 on: checks, copies, and posts the copy to its thread, where each listener of frames has its sums. */
    static final class Matrix implements Window.OnFrameMetricsAvailableListener {
        private static final long OUTLIER = Long.MAX_VALUE >>> 1;
        private static final int[] STAGES = {
            FrameMetrics.UNKNOWN_DELAY_DURATION, FrameMetrics.INPUT_HANDLING_DURATION, FrameMetrics.ANIMATION_DURATION,
            FrameMetrics.LAYOUT_MEASURE_DURATION, FrameMetrics.DRAW_DURATION, FrameMetrics.SYNC_DURATION,
            FrameMetrics.COMMAND_ISSUE_DURATION, FrameMetrics.SWAP_BUFFERS_DURATION, FrameMetrics.TOTAL_DURATION,
        };
        private static final int[] LEVELS = {42, 24, 9, 3};

        /** The sums of a listener: that of all screens. */
        private static final class Sums {
            private final long[] durations = new long[STAGES.length + 1];
            private final int[] levels = new int[LEVELS.length + 1];
            private final int[] drops = new int[LEVELS.length + 1];
            private float dropped;
            private float rates;
            private float total;
            private int count;
            private String lastScreen;

            void append(String screen, FrameMetrics metrics, float droppedFrames, float hz) {
                if (metrics.getMetric(FrameMetrics.FIRST_DRAW_FRAME) == 1) {
                    return;
                }
                for (int at = 0; at < STAGES.length; at++) {
                    durations[at] += metrics.getMetric(STAGES[at]);
                }
                dropped += droppedFrames;
                int whole = Math.round(droppedFrames);
                int level = 0;
                while (level < LEVELS.length && whole < LEVELS[level]) {
                    level++;
                }
                levels[level]++;
                drops[level] += whole;
                rates += hz;
                total += Math.max(metrics.getMetric(FrameMetrics.TOTAL_DURATION), NANOS_PER_S / hz);
                count++;
                lastScreen = screen;
            }
        }

        private final Handler handler;
        private final HashSet<Matrix> listeners = new HashSet<Matrix>();
        private final HashMap<String, Sums> byScreen = new HashMap<String, Sums>();
        private final HashMap<Object, Sums> ofAll = new HashMap<Object, Sums>();
        private double droppedSum;

        Matrix(Handler handler) {
            this.handler = handler;
            listeners.add(this);
            ofAll.put(this, new Sums());
        }

        @Override public void onFrameMetricsAvailable(Window window, FrameMetrics metrics, int drops) {
            for (int stage : STAGES) {
                long took = metrics.getMetric(stage);
                if (took < 0 || took >= OUTLIER) {
                    return;
                }
            }
            FrameMetrics copy = new FrameMetrics(metrics);
            float interval = NANOS_PER_S / HZ;
            float dropped = Math.max(0f, (copy.getMetric(FrameMetrics.TOTAL_DURATION) - interval) / interval);
            droppedSum += dropped;
            synchronized (listeners) {
                for (Matrix listener : listeners) {
                    listener.frame("screen", copy, dropped, HZ);
                }
            }
        }

        private void frame(final String screen, final FrameMetrics metrics, final float dropped, final float hz) {
            handler.post(new Runnable() {
                @Override public void run() {
                    synchronized (Matrix.this) {
                        Sums sums = byScreen.get(screen.getClass().getName());
                        if (sums != null) {
                            sums.append(screen, metrics, dropped, hz);
                        }
                        for (Sums all : ofAll.values()) {
                            all.append(screen, metrics, dropped, hz);
                        }
                    }
                }
            });
        }
    }

    /** A window whose view draws nothing. */
    static Window window(Context context) {
        Window window = new PhoneWindow(context);
        window.setContentView(new View(context) {
            @Override protected void onDraw(Canvas canvas) {}
        });
        return window;
    }

    /** The listener that was added to a window; null while there is none. */
    static Window.OnFrameMetricsAvailableListener listenerOf(Window window) throws ReflectiveOperationException {
        Field rings = Window.class.getDeclaredField("frameMetrics");
        rings.setAccessible(true);
        for (Object ring : (Iterable<?>) rings.get(window)) {
            Field observer = ring.getClass().getDeclaredField("observer");
            observer.setAccessible(true);
            Object of = observer.get(ring);
            Field listener = of.getClass().getDeclaredField("mListener");
            listener.setAccessible(true);
            return (Window.OnFrameMetricsAvailableListener) listener.get(of);
        }
        return null;
    }
}
