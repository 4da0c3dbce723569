package phone;

import android.animation.ValueAnimator;
import android.app.ContextImpl;
import android.graphics.Canvas;
import android.os.Handler;
import android.os.HandlerThread;
import android.os.Looper;
import android.view.Choreographer;
import android.view.FrameMetrics;
import android.view.TestVsync;
import android.view.TestViewRoot;
import android.view.View;
import android.view.Window;
import android.view.animation.AnimationUtils;
import com.android.internal.policy.PhoneWindow;
import java.io.File;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import scenario.Options;
import scenario.Script;
import scenario.Work;

/**
 * Frames without an app: what the Choreographer reports of the display's clock.
 *
 * <p>Arguments: {@code script=NS,NS,...}: frames with these intervals; {@code frames=N periodNs=NS}: N frames
 * by the display's own clock, one of which takes three refreshes; {@code animation=MS}: an animation of this
 * length; {@code metrics=N}: a window draws N frames before its listener is notified of the first one.
 */
public final class FrameClock implements Choreographer.FrameCallback {
    private static final long HOUR_NS = 3_600_000_000_000L;

    private final int frames;
    private final int slowFrame;
    private final long periodNs;
    private final StringBuilder intervals = new StringBuilder();
    private int frame;
    private long lastNs;

    private FrameClock(int frames, int slowFrame, long periodNs) {
        this.frames = frames;
        this.slowFrame = slowFrame;
        this.periodNs = periodNs;
    }

    /** Ends the process when the frames are over. */
    public static void main(String[] arguments) {
        Looper.prepareMainLooper();
        Options options = new Options(arguments);
        if (!options.text("script", "").isEmpty()) {
            script(options.text("script", "").split(","));
        } else if (options.number("animation", 0) > 0) {
            ValueAnimator animator = ValueAnimator.ofFloat(0, 100).setDuration(options.number("animation", 0));
            animator.addUpdateListener(new Steps());
            animator.start();
        } else if (options.number("metrics", 0) > 0) {
            metrics(options.number("metrics", 0));
        } else {
            long periodNs = options.number("periodNs", 0);
            TestVsync.setPeriodNanos(periodNs);
            int frames = options.number("frames", 0);
            Choreographer.getInstance().postFrameCallback(new FrameClock(frames, frames / 2, periodNs));
        }
        Looper.loop();
    }

    private static void script(String[] intervals) {
        // So long that no frame of the script is too late for the Choreographer, which reads it once.
        TestVsync.setPeriodNanos(HOUR_NS);
        Choreographer choreographer = Choreographer.getInstance();
        long[] times = new long[intervals.length + 1];
        long sum = 0;
        for (int i = 0; i < intervals.length; i++) {
            sum += Long.parseLong(intervals[i]);
            times[i + 1] = sum;
        }
        long first = System.nanoTime() - sum;
        for (int i = 0; i < times.length; i++) {
            times[i] += first;
        }
        TestVsync.setScript(times);
        choreographer.postFrameCallback(new FrameClock(intervals.length, -1, 0));
    }

    @Override
    public void doFrame(long frameTimeNanos) {
        if (frame > 0) {
            intervals.append(frame == 1 ? "" : ",").append(frameTimeNanos - lastNs);
        }
        if (frame == frames) {
            Script.say("intervals " + intervals);
            Script.say("refreshes asked for " + TestVsync.scheduled());
            Runtime.getRuntime().halt(0);
        }
        if (frame == slowFrame) {
            Work.busy((int) (3 * periodNs / 1_000_000));
        }
        frame++;
        lastNs = frameTimeNanos;
        Choreographer.getInstance().postFrameCallback(this);
    }

    /**
     * Checks at each step of an animation whether the clocks show the same time and whether the value has
     * risen, and prints the results at the end.
     */
    private static final class Steps implements ValueAnimator.AnimatorUpdateListener {
        private float last;
        private boolean together = true;
        private boolean upwards = true;

        @Override
        public void onAnimationUpdate(ValueAnimator animator) {
            long ofFrame = Choreographer.getInstance().getFrameTimeNanos() / 1_000_000;
            together &= ofFrame == AnimationUtils.currentAnimationTimeMillis();
            float value = (Float) animator.getAnimatedValue();
            upwards &= value >= last;
            last = value;
            if (animator.getAnimatedFraction() == 1) {
                Script.say("clocks together: " + together + ", upwards: " + upwards + ", to " + value);
                Runtime.getRuntime().halt(0);
            }
        }
    }

    /**
     * A window that draws {@code frames} frames while its listener is busy. Then it draws as many more, each
     * only after the listener was notified of another frame.
     */
    private static void metrics(final int frames) {
        ContextImpl context = new ContextImpl(new File("."), "com.example.phone", "com.example.phone");
        final Window window = new PhoneWindow(context);
        final CountDownLatch drawn = new CountDownLatch(frames);
        final LinkedBlockingQueue<String> lines = new LinkedBlockingQueue<String>();
        HandlerThread listener = new HandlerThread("metrics");
        listener.start();
        Handler handler = new Handler(listener.getLooper());
        handler.post(
                new Runnable() {
                    @Override
                    public void run() {
                        await(drawn);
                    }
                });
        window.addOnFrameMetricsAvailableListener(
                new Window.OnFrameMetricsAvailableListener() {
                    @Override
                    public void onFrameMetricsAvailable(Window of, FrameMetrics metrics, int dropped) {
                        boolean first = metrics.getMetric(FrameMetrics.FIRST_DRAW_FRAME) == 1;
                        lines.add(
                                metrics.getMetric(FrameMetrics.VSYNC_TIMESTAMP)
                                        + " dropped=" + dropped + " first=" + first
                                        + " complete=" + (metrics.getMetric(FrameMetrics.TOTAL_DURATION) > 0));
                    }
                },
                handler);
        window.setContentView(
                new View(context) {
                    private int frame;

                    @Override
                    protected void onDraw(Canvas canvas) {
                        Script.say("frame " + Choreographer.getInstance().getFrameTimeNanos());
                        drawn.countDown();
                        if (++frame < frames) {
                            invalidate();
                        } else if (frame < 2 * frames) {
                            next();
                        } else {
                            Runtime.getRuntime().halt(0);
                        }
                    }

                    /**
                     * Draws the next frame after the listener has been notified of one more of the earlier
                     * frames. A new thread waits for the notification.
                     */
                    private void next() {
                        new Thread("next") {
                            @Override
                            public void run() {
                                try {
                                    Script.say("metrics " + lines.take());
                                } catch (InterruptedException ended) {
                                    return;
                                }
                                new Handler(Looper.getMainLooper())
                                        .post(
                                                new Runnable() {
                                                    @Override
                                                    public void run() {
                                                        invalidate();
                                                    }
                                                });
                            }
                        }.start();
                    }
                });
        new TestViewRoot(window);
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException interrupted) {
            throw new IllegalStateException(interrupted);
        }
    }
}
