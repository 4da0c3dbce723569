package bench;

import android.app.ContextImpl;
import android.content.Context;
import android.graphics.Canvas;
import android.os.Handler;
import android.os.Looper;
import android.view.Choreographer;
import android.view.TestViewRoot;
import android.view.TestVsync;
import android.view.View;
import android.view.Window;
import com.android.internal.policy.PhoneWindow;
import io.loopbox.Config;
import io.loopbox.FrameConfig;
import io.loopbox.Loopbox;
import java.io.File;
import java.util.concurrent.CountDownLatch;
import scenario.Heap;

/**
 * How many refreshes of the display are asked for, by ways to watch frames: while nothing moves, and for one scroll; and what
 * memory Loopbox's takes beside its recorder's. A real clock of 60 Hz.
 *
 * Prints {@code refreshes WAY IDLE SCROLL}, of so many milliseconds idle and one scroll of so many frames, the two arguments; and
 * {@code memory WAY BYTES FILE}: bytes of malloc in use (NaN on a phone), and of files that are mapped.
 */
public final class RefreshBench {
    /** Longer than a gesture takes to end, and than a worker sleeps. */
    private static final long STILL_MS = 500;

    private static final int STEP = 20;

    private RefreshBench() {}

    /** Scrolls by itself through so many frames. */
    private static final class Feed extends View {
        private int left;
        private CountDownLatch over;

        Feed(Context context) {
            super(context);
        }

        void scroll(int frames, CountDownLatch latch) {
            left = frames;
            over = latch;
            scrollTo(0, getScrollY() + STEP);
        }

        @Override protected void onDraw(Canvas canvas) {
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
        FrameWays.Empty article = new FrameWays.Article();
        count("none", feed, idleMs, frames);
        onMain(begin(article));
        count("article", feed, idleMs, frames);
        article.end();
        onMain(install(folder, null));
        memory("recorder", folder);
        onMain(uninstall());
        onMain(install(folder, window));
        memory("frames", folder);
        count("ours", feed, idleMs, frames);
    }

    private static void count(String way, final Feed feed, int idleMs, final int frames) throws InterruptedException {
        settle();
        long before = TestVsync.scheduled();
        Thread.sleep(idleMs);
        long idle = TestVsync.scheduled() - before;
        final CountDownLatch over = new CountDownLatch(1);
        before = TestVsync.scheduled();
        onMain(new Runnable() {
            @Override public void run() {
                feed.scroll(frames, over);
            }
        });
        over.await();
        settle();
        say("refreshes " + way + " " + idle + " " + (TestVsync.scheduled() - before));
    }

    private static void memory(String way, File folder) throws InterruptedException {
        settle();
        long mapped = 0;
        for (File file : folder.listFiles()) {
            mapped += file.length();
        }
        say("memory " + way + " " + (Heap.COUNTED ? (double) Heap.mallocBytes() : Double.NaN) + " " + mapped);
    }

    private static void settle() throws InterruptedException {
        Thread.sleep(STILL_MS);
        onMain(new Runnable() {
            @Override public void run() {}
        });
    }

    /** Runs it as a message of the main thread, and waits for that. */
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

    private static Runnable begin(final FrameWays.Way way) {
        return new Runnable() {
            @Override public void run() {
                way.begin();
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
