package smooth;

import android.app.ContextImpl;
import android.content.Context;
import android.graphics.Canvas;
import android.os.Handler;
import android.os.Looper;
import android.os.SystemClock;
import android.view.TestViewRoot;
import android.view.TestVsync;
import android.view.View;
import android.view.Window;
import android.view.animation.AnimationUtils;
import com.android.internal.policy.PhoneWindow;
import io.loopbox.FrameConfig;
import io.loopbox.FrameGesture;
import io.loopbox.FrameListener;
import io.loopbox.FrameWindow;
import io.loopbox.Loopbox;
import java.io.File;
import java.util.concurrent.CountDownLatch;
import scenario.Options;
import scenario.Script;
import scenario.Work;

/**
 * A list scrolls by itself, and four of its frames take long, each in a different method. Two messages take
 * long, too: one before the list scrolls, and one after the list has been still for a while. Leaves a report
 * of each message and of the scroll. Arguments: those of {@link Options}.
 */
public final class Culprits implements FrameListener, Runnable {
    private static final long HZ_60_NS = 16_666_667;

    /**
     * How long the list stands still in milliseconds: the recorder takes a scroll as ended when no frame has
     * come for a quarter of a second.
     */
    private static final long STILL_MS = 300;

    private static final int MESSAGE_MS = 400;

    private final Handler main = new Handler(Looper.getMainLooper());
    private final CountDownLatch ended = new CountDownLatch(1);
    private final Rows rows;

    private Culprits(Rows rows) {
        this.rows = rows;
    }

    /** Runs the whole scenario. */
    public static void main(String[] arguments) {
        Looper.prepareMainLooper();
        Options options = new Options(arguments);
        TestVsync.setPeriodNanos(HZ_60_NS);
        Context context = new ContextImpl(new File(options.text("dir", ".")), "com.example.feed", "com.example.feed");
        Rows rows = new Rows(context);
        final Culprits culprits = new Culprits(rows);
        FrameConfig frames = new FrameConfig.Builder().listener(culprits).build();
        if (!Loopbox.install(options.config().frames(frames).build()).isOn()) {
            throw new AssertionError("not installed");
        }
        final Window window = new PhoneWindow(context);
        window.setContentView(rows);
        culprits.main.post(
                new Runnable() {
                    @Override
                    public void run() {
                        new TestViewRoot(window);
                        Loopbox.frames().watch(window);
                        new Thread(culprits, "script").start();
                    }
                });
        Looper.loop();
    }

    @Override
    public void run() {
        try {
            rows.shown.await();
            Script.awaitSampler();
            onMain(new Before());
            report("before");
            onMain(
                    new Runnable() {
                        @Override
                        public void run() {
                            rows.scroll();
                        }
                    });
            ended.await();
            report("scroll");
            SystemClock.sleep(STILL_MS);
            // What writes it has read frames before, and with the second one since.
            Script.ask("still");
            Script.ask("still");
            onMain(new After());
            report("after");
        } catch (InterruptedException unexpected) {
            throw new AssertionError(unexpected);
        }
        Runtime.getRuntime().halt(0);
    }

    private static void report(String what) {
        Script.say(what + " " + Script.ask(what).getPath());
    }

    /** Runs a task on the main thread. Returns when it has run. */
    private void onMain(final Runnable task) throws InterruptedException {
        final CountDownLatch ran = new CountDownLatch(1);
        main.post(task);
        main.post(
                new Runnable() {
                    @Override
                    public void run() {
                        ran.countDown();
                    }
                });
        ran.await();
    }

    @Override
    public void onGesture(FrameGesture gesture) {
        ended.countDown();
    }

    @Override
    public void onWindow(FrameWindow window) {}

    @Override
    public void onSkippedFrames(int frames, String scene) {}

    /** The message before the list scrolls. */
    private static final class Before implements Runnable {
        @Override
        public void run() {
            Work.busy(MESSAGE_MS);
        }
    }

    /** The message after the list has become still. */
    private static final class After implements Runnable {
        @Override
        public void run() {
            Work.busy(MESSAGE_MS);
        }
    }

    private static final class Rows extends View {
        private static final int BETWEEN = 10;
        private static final int FRAMES = 5 * BETWEEN;

        final CountDownLatch shown = new CountDownLatch(1);
        private int left;

        Rows(Context context) {
            super(context);
        }

        /** Scrolls through {@link #FRAMES} frames. */
        void scroll() {
            left = FRAMES;
            scrollTo(0, getScrollY() + 1);
        }

        @Override
        protected void onDraw(Canvas canvas) {
            shown.countDown();
            if (left > 0) {
                left--;
                draw(left);
                if (left > 0) {
                    scrollTo(0, getScrollY() + 1);
                }
            }
        }

        private static void draw(int frame) {
            if (frame == BETWEEN) {
                say(731);
                take731();
            } else if (frame == 2 * BETWEEN) {
                say(102);
                take102();
            } else if (frame == 3 * BETWEEN) {
                say(75);
                take75();
            } else if (frame == 4 * BETWEEN) {
                say(55);
                take55();
            }
        }

        /**
         * Prints how long this frame takes, and the frame time, which is the time that animations read while
         * the frame runs.
         */
        private static void say(int ms) {
            Script.say("frame " + ms + " " + AnimationUtils.currentAnimationTimeMillis());
        }

        private static void take55() {
            Work.busy(55);
        }

        private static void take75() {
            Work.busy(75);
        }

        private static void take102() {
            Work.busy(102);
        }

        private static void take731() {
            Work.busy(731);
        }
    }
}
