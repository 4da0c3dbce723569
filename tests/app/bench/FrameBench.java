package bench;

import android.os.Handler;
import android.os.Looper;
import android.os.Message;
import android.view.Choreographer;
import android.view.DisplayEventReceiver;
import android.view.TestVsync;
import dalvik.system.VMDebug;
import java.lang.reflect.Field;
import java.util.Arrays;
import java.util.List;
import scenario.Heap;

/**
 * The cost of one display frame on the main thread, for several ways to watch frames, in one process. Each
 * frame is a message of the real Choreographer, with a callback of the app; it comes without waiting for a
 * display, so only computation counts.
 *
 * Arguments: frames per batch, rounds, then the ways (all when none is named). Each round runs one batch per
 * way, in turn. Prints one line a batch, with the way and four figures per frame: nanoseconds of this
 * thread's CPU time; objects that all threads allocated in Java; bytes of these; calls of malloc by this
 * thread (NaN on a phone).
 */
public final class FrameBench {
    /** The time between two refreshes at 60 Hz. */
    private static final long INTERVAL_NS = 16_666_667;

    /**
     * The period of the display, which the Choreographer reads once. It is so long that no frame counts as
     * late, and that the display requests no frame by itself.
     */
    private static final long HOUR_NS = 3_600_000_000_000L;

    /** How many frames are run before a batch is measured: the first frames of a way differ from the rest. */
    private static final int FIRST = 20;

    private static final int START = 1;
    private static final int LAST = 2;

    private FrameBench() {}

    /** Ends Looper.loop(). */
    private static final class Stop extends RuntimeException {
        Stop() {
            super("end of batch", null, false, false);
        }
    }

    /** What has been used so far: time, objects and bytes, calls of malloc. */
    private static double[] used() {
        return new double[] {
            VMDebug.threadCpuTimeNanos(),
            VMDebug.getAllocCount(VMDebug.KIND_GLOBAL_ALLOCATED_OBJECTS),
            VMDebug.getAllocCount(VMDebug.KIND_GLOBAL_ALLOCATED_BYTES),
            Heap.COUNTED ? Heap.allocations() : Double.NaN,
        };
    }

    /** A number of frames, with the app's own callback in each. */
    private static final class Batch extends Handler implements Choreographer.FrameCallback {
        private final Choreographer choreographer;
        private final DisplayEventReceiver display;
        private final FrameWays.Way way;
        private final int frames;
        private final long firstNs;
        private int done;
        private double[] before;
        private double[] after;

        Batch(FrameWays.Way way, int frames) throws ReflectiveOperationException {
            super(Looper.getMainLooper());
            choreographer = Choreographer.getInstance();
            display = (DisplayEventReceiver) field("mDisplayEventReceiver").get(choreographer);
            this.way = way;
            this.frames = frames + FIRST;
            // Their times are a display's and lie in the past, since they come faster.
            firstNs = System.nanoTime() - (this.frames + 1) * INTERVAL_NS;
            field("mLastFrameTimeNanos").setLong(choreographer, 0);
        }

        private static Field field(String name) throws ReflectiveOperationException {
            Field field = Choreographer.class.getDeclaredField(name);
            field.setAccessible(true);
            return field;
        }

        @Override public void handleMessage(Message message) {
            if (message.what == LAST) {
                // A callback that is left over runs in the first frame of the next batch, and asks for no
                // more.
                way.end();
                throw new Stop();
            }
            choreographer.postFrameCallback(this);
            way.begin();
            display.onVsync(firstNs, 0, 0);
        }

        @Override public void doFrame(long frameTimeNanos) {
            if (done == FIRST) {
                before = used();
            } else if (done == frames) {
                after = used();
                sendEmptyMessage(LAST);
                return;
            }
            done++;
            choreographer.postFrameCallback(this);
            display.onVsync(firstNs + done * INTERVAL_NS, 0, done);
        }
    }

    public static void main(String[] args) throws Exception {
        int frames = Integer.parseInt(args[0]);
        int rounds = Integer.parseInt(args[1]);
        List<String> wanted = Arrays.asList(args).subList(2, args.length);
        Looper.prepareMainLooper();
        TestVsync.setPeriodNanos(HOUR_NS);
        Choreographer.getInstance();
        VMDebug.startAllocCounting();
        String[] names = {"none", "empty", "frames", "observer", "observer-frames"};
        FrameWays.Way[] ways = {
            new FrameWays.Way(), new FrameWays.Empty(), new FrameWays.Ours(false, true), new FrameWays.Ours(true, false),
            new FrameWays.Ours(true, true),
        };
        for (int round = -3; round < rounds; round++) { // those before 0 warm up
            for (int i = 0; i < ways.length; i++) {
                if (wanted.isEmpty() || wanted.contains(names[i])) {
                    one(names[i], ways[i], frames, round >= 0);
                }
            }
        }
        Runtime.getRuntime().halt(0);
    }

    private static void one(String name, FrameWays.Way way, int frames, boolean counts) throws Exception {
        if (!way.install()) {
            return;
        }
        Batch batch = new Batch(way, frames);
        batch.sendEmptyMessage(START);
        try {
            Looper.loop();
            throw new IllegalStateException("the looper quit");
        } catch (Stop end) {
            way.await(batch.done);
        }
        way.uninstall();
        if (counts) {
            StringBuilder line = new StringBuilder("batch " + name);
            for (int at = 0; at < batch.after.length; at++) {
                line.append(' ').append((batch.after[at] - batch.before[at]) / frames);
            }
            System.out.println(line);
        }
    }
}
