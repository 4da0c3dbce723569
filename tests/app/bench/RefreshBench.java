package bench;

import android.app.ContextImpl;
import android.content.Context;
import android.graphics.Canvas;
import android.os.Handler;
import android.os.Looper;
import android.os.SystemClock;
import android.view.Choreographer;
import android.view.TestViewRoot;
import android.view.TestVsync;
import android.view.View;
import android.view.Window;
import com.android.internal.policy.PhoneWindow;
import io.loopbox.Config;
import io.loopbox.FrameConfig;
import io.loopbox.Loopbox;
import java.io.BufferedReader;
import java.io.File;
import java.io.FileReader;
import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import scenario.Heap;

/**
 * How many refreshes of the display are requested, with Loopbox and without: while nothing moves, and for one
 * scroll. Also how much memory Loopbox's recording of frames needs in addition to the rest of the recorder.
 * The memory is measured after the installation, and again when there were more screens, gestures, frames and
 * jank frames than the recorder keeps. The recorder without frames gets the same calls and scrolls. The
 * display has a real clock of 60 Hz.
 *
 * Two arguments: the idle time in milliseconds, and the number of frames of one scroll. Prints two kinds of
 * lines. {@code refreshes WAY IDLE SCROLL} has the refreshes requested in the idle time (IDLE), and those for
 * the scroll (SCROLL). {@code memory WAY BYTES MAPPED FILE} has the bytes of malloc in use (BYTES; NaN on a
 * phone), the total size of the files in the recorder's folder (FILE), and how many bytes of these files the
 * process has mapped (MAPPED). None of these figures includes the memory of the ring, which comes from
 * neither malloc nor a mapped file. A test of loopbox-store checks that this memory is as large with frames
 * as without.
 */
public final class RefreshBench {
    /**
     * How long to wait until nothing moves. This is longer than a gesture takes to end, and longer than a
     * worker sleeps.
     */
    private static final long STILL_MS = 500;

    /** How long to wait until everything is saved and copied into the ring's file. */
    private static final long SAVED_MS = 1_500;

    /** How many rounds memory is measured for. ART's compiler takes memory, too, but not in each round. */
    private static final int MEMORY_ROUNDS = 3;

    private static final int STEP = 20;

    // More than is kept of each: 16 screens and gestures, 32 jank frames, 128 frames.
    private static final int SCREENS = 18;
    private static final int FRAMES_PER_SCREEN = 9;
    private static final int JANK_EACH = 4;
    private static final long JANK_MS = 60;
    /** How long to wait after a scroll: longer than a fling takes to end. */
    private static final long GESTURE_END_MS = 150;

    private RefreshBench() {}

    /** Scrolls by itself for a number of frames. */
    private static final class Feed extends View {
        private int left;
        private boolean janks;
        private CountDownLatch over;

        Feed(Context context) {
            super(context);
        }

        void scroll(int frames, boolean janky, CountDownLatch latch) {
            left = frames;
            janks = janky;
            over = latch;
            scrollTo(0, getScrollY() + STEP);
        }

        @Override protected void onDraw(Canvas canvas) {
            if (janks && left % JANK_EACH == 0) {
                SystemClock.sleep(JANK_MS);
            }
            if (left > 0 && --left == 0) {
                over.countDown();
            } else if (left > 0) {
                scrollTo(0, getScrollY() + STEP);
            }
        }
    }

    private static void say(String line) {
        System.out.println(line);
    }

    public static void main(String[] args) throws Exception {
        final int idleMs = Integer.parseInt(args[0]);
        final int frames = Integer.parseInt(args[1]);
        Looper.prepareMainLooper();
        Choreographer.getInstance();
        final File folder = new File(System.getProperty("loopbox.dir"));
        Context context = new ContextImpl(folder, "bench", "bench");
        final Feed feed = new Feed(context);
        final Window window = new PhoneWindow(context);
        window.setContentView(feed);
        new TestViewRoot(window);
        new Thread("driver") {
            @Override public void run() {
                try {
                    drive(window, feed, folder, idleMs, frames);
                    Runtime.getRuntime().halt(0);
                } catch (Throwable fault) {
                    fault.printStackTrace();
                    Runtime.getRuntime().halt(1);
                }
            }
        }.start();
        Looper.loop();
    }

    private static void drive(Window window, Feed feed, File folder, int idleMs, int frames) throws Exception {
        count("none", feed, idleMs, frames);
        onMain(install(folder, window));
        count("ours", feed, idleMs, frames);
        // What is taken once in a process, classes and what is looked up in ART, is none of what frames keep.
        use(feed);
        onMain(uninstall());
        for (int round = 0; round < MEMORY_ROUNDS; round++) {
            // What an installation leaves behind is none of the next one's.
            memory("before-recorder", folder);
            onMain(install(folder, null));
            memory("recorder", folder);
            use(feed);
            memory("recorder-used", folder);
            onMain(uninstall());
            memory("before-frames", folder);
            onMain(install(folder, window));
            memory("frames", folder);
            use(feed);
            memory("frames-used", folder);
            onMain(uninstall());
        }
    }

    private static void count(String way, final Feed feed, int idleMs, final int frames) throws InterruptedException {
        settle();
        long before = TestVsync.scheduled();
        Thread.sleep(idleMs);
        long idle = TestVsync.scheduled() - before;
        final CountDownLatch over = new CountDownLatch(1);
        before = TestVsync.scheduled();
        onMain(scroll(feed, frames, false, over));
        over.await();
        settle();
        say("refreshes " + way + " " + idle + " " + (TestVsync.scheduled() - before));
    }

    /** Scrolls in one named animation after the other, each of which is a separate screen. */
    private static void use(Feed feed) throws InterruptedException {
        for (int screen = 0; screen < SCREENS; screen++) {
            String name = "bench.screen.Screen" + screen;
            CountDownLatch over = new CountDownLatch(1);
            Loopbox.frames().begin(name);
            onMain(scroll(feed, FRAMES_PER_SCREEN, true, over));
            over.await();
            Loopbox.frames().end(name);
            Thread.sleep(GESTURE_END_MS);
        }
    }

    private static void memory(String way, File folder) throws InterruptedException, IOException {
        Thread.sleep(SAVED_MS);
        long length = 0;
        for (File file : folder.listFiles()) {
            length += file.length();
        }
        String malloc = Heap.COUNTED ? String.valueOf(Heap.mallocBytes()) : "NaN";
        say("memory " + way + " " + malloc + " " + mappedOf(folder) + " " + length);
    }

    /** How many bytes the process has mapped of files in a folder. */
    private static long mappedOf(File folder) throws IOException {
        long mapped = 0;
        BufferedReader maps = new BufferedReader(new FileReader("/proc/self/maps"));
        try {
            for (String line = maps.readLine(); line != null; line = maps.readLine()) {
                if (line.contains(folder.getPath())) {
                    String[] range = line.substring(0, line.indexOf(' ')).split("-");
                    mapped += Long.parseLong(range[1], 16) - Long.parseLong(range[0], 16);
                }
            }
        } finally {
            maps.close();
        }
        return mapped;
    }

    private static void settle() throws InterruptedException {
        Thread.sleep(STILL_MS);
        onMain(new Runnable() {
            @Override public void run() {}
        });
    }

    /** Runs {@code what} as a message of the main thread, and waits for its end. */
    private static void onMain(final Runnable what) throws InterruptedException {
        final CountDownLatch done = new CountDownLatch(1);
        new Handler(Looper.getMainLooper()).post(new Runnable() {
            @Override public void run() {
                what.run();
                done.countDown();
            }
        });
        done.await();
    }

    private static Runnable scroll(final Feed feed, final int frames, final boolean janky, final CountDownLatch over) {
        return new Runnable() {
            @Override public void run() {
                feed.scroll(frames, janky, over);
            }
        };
    }

    private static Runnable install(final File folder, final Window window) {
        return new Runnable() {
            @Override public void run() {
                Config.Builder config = new Config.Builder(folder);
                if (window != null) {
                    config.frames(new FrameConfig.Builder().build());
                }
                if (!Loopbox.install(config.build()).isOn()) {
                    throw new IllegalStateException(Loopbox.status().toString());
                }
                Loopbox.frames().watch(window);
            }
        };
    }

    private static Runnable uninstall() {
        return new Runnable() {
            @Override public void run() {
                Loopbox.uninstall();
            }
        };
    }
}
