package bench;

import android.app.ContextImpl;
import android.content.Context;
import android.graphics.Canvas;
import android.os.Handler;
import android.os.HandlerThread;
import android.os.Looper;
import android.view.FrameMetrics;
import android.view.TestViewRoot;
import android.view.View;
import android.view.Window;
import com.android.internal.policy.PhoneWindow;
import dalvik.system.VMDebug;
import io.loopbox.Config;
import io.loopbox.FrameConfig;
import io.loopbox.Loopbox;
import java.io.File;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.util.concurrent.CountDownLatch;

/**
 * The cost of one FrameMetrics for the thread of Loopbox's listener. The reports are prepared: the platform's
 * own class with times filled in, one frame in twenty slow.
 *
 * Arguments: reports per batch, rounds. Prints one line a batch, with {@code ours} and three figures per
 * report: nanoseconds of the thread's CPU time; objects that the thread allocated in Java; bytes of these.
 */
public final class StageBench {
    private static final long INTERVAL_NS = 16_666_667;
    private static final long STAGE_NS = 500_000;
    private static final long SLOW_STAGE_NS = 5_000_000;
    private static final int SLOW_EACH = 20;

    // Places of FrameMetrics.Index.
    private static final int FLAGS = 0;
    private static final int STAMPS = 14;

    private StageBench() {}

    /**
     * Passes the reports of one batch to the listener, on the listener's thread. The batch ends when this
     * thread has also done all that was posted to it.
     */
    private static final class Batch implements Runnable {
        private final Window.OnFrameMetricsAvailableListener listener;
        private final Window window;
        private final FrameMetrics metrics;
        private final long[] times;
        private final Handler handler;
        private final int reports;
        private final CountDownLatch over = new CountDownLatch(1);
        private final double[] used = new double[3];

        Batch(Window.OnFrameMetricsAvailableListener listener, Window window, Handler handler, int reports)
                throws ReflectiveOperationException {
            this.listener = listener;
            this.window = window;
            this.handler = handler;
            this.reports = reports;
            Constructor<FrameMetrics> make = FrameMetrics.class.getDeclaredConstructor();
            make.setAccessible(true);
            metrics = make.newInstance();
            Field data = FrameMetrics.class.getDeclaredField("mTimingData");
            data.setAccessible(true);
            times = (long[]) data.get(metrics);
        }

        private static void add(double[] to, int sign) {
            to[0] += sign * VMDebug.threadCpuTimeNanos();
            to[1] += sign * VMDebug.getAllocCount(VMDebug.KIND_THREAD_ALLOCATED_OBJECTS);
            to[2] += sign * VMDebug.getAllocCount(VMDebug.KIND_THREAD_ALLOCATED_BYTES);
        }

        @Override public void run() {
            long vsync = System.nanoTime() - reports * INTERVAL_NS;
            add(used, -1);
            for (int report = 0; report < reports; report++) {
                fill(vsync + report * INTERVAL_NS, report % SLOW_EACH == 0 ? SLOW_STAGE_NS : STAGE_NS);
                listener.onFrameMetricsAvailable(window, metrics, 0);
            }
            handler.post(new Runnable() {
                @Override public void run() {
                    add(used, 1);
                    over.countDown();
                }
            });
        }

        private void fill(long vsync, long stage) {
            times[FLAGS] = 0;
            for (int stamp = 1; stamp < STAMPS; stamp++) {
                times[stamp] = vsync + (stamp < 3 ? 0 : stamp * stage);
            }
        }
    }

    public static void main(String[] args) throws Exception {
        final int reports = Integer.parseInt(args[0]);
        final int rounds = Integer.parseInt(args[1]);
        Looper.prepareMainLooper();
        VMDebug.startAllocCounting();
        File folder = new File(System.getProperty("loopbox.dir"));
        final Window window = window(new ContextImpl(folder, "bench", "bench"));
        FrameConfig frames = new FrameConfig.Builder().stages(true).build();
        Config config = new Config.Builder(folder).hook(Config.Hook.NONE).frames(frames).build();
        if (!Loopbox.install(config).isOn()) {
            throw new IllegalStateException(Loopbox.status().toString());
        }
        new TestViewRoot(window);
        Loopbox.frames().watch(window);
        final Window.OnFrameMetricsAvailableListener ours = listenerOf(window);
        HandlerThread thread = new HandlerThread("listener");
        thread.start();
        final Handler handler = new Handler(thread.getLooper());
        new Thread("driver") {
            @Override public void run() {
                try {
                    drive(ours, window, handler, reports, rounds);
                    Runtime.getRuntime().halt(0);
                } catch (Throwable fault) {
                    fault.printStackTrace();
                    Runtime.getRuntime().halt(1);
                }
            }
        }.start();
        Looper.loop();
    }

    private static void drive(
            Window.OnFrameMetricsAvailableListener listener, Window window, Handler handler, int reports, int rounds) throws Exception {
        for (int round = -3; round < rounds; round++) { // those before 0 warm up
            Batch batch = new Batch(listener, window, handler, reports);
            handler.post(batch);
            batch.over.await();
            if (round >= 0) {
                StringBuilder line = new StringBuilder("batch ours");
                for (double used : batch.used) {
                    line.append(' ').append(used / reports);
                }
                System.out.println(line);
            }
        }
        if (Loopbox.frames().snapshot().getProcess().getCauses().isEmpty()) {
            throw new IllegalStateException("the slow frames were not counted");
        }
    }

    /** A window whose view draws nothing. */
    private static Window window(Context context) {
        Window window = new PhoneWindow(context);
        window.setContentView(new View(context) {
            @Override protected void onDraw(Canvas canvas) {}
        });
        return window;
    }

    /** The listener that was added to a window; null while there is none. */
    private static Window.OnFrameMetricsAvailableListener listenerOf(Window window) throws ReflectiveOperationException {
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
