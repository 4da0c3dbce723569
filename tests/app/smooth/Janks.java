package smooth;

import android.app.ContextImpl;
import android.content.Context;
import android.graphics.Canvas;
import android.os.Handler;
import android.os.Looper;
import android.os.Message;
import android.os.SystemClock;
import android.view.MotionEvent;
import android.view.TestInput;
import android.view.TestRenderThread;
import android.view.TestViewRoot;
import android.view.TestVsync;
import android.view.View;
import android.view.Window;
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
 * A screen that draws all the time. Four things delay it, one after the other: its drawing, a message, a
 * touch, the render thread. Then its listener of frames blocks, and at last the display becomes twice as
 * fast. Arguments: those of {@link Options}.
 */
public final class Janks {
    private static final long HZ_60_NS = 16_666_667;
    private static final long HZ_120_NS = 8_333_333;

    private static final int STALL_MS = 200;

    /** How many frames are drawn between two stalls. */
    private static final int BETWEEN = 10;

    private static final int DRAWN = 2 * BETWEEN;
    private static final int MESSAGE = DRAWN + BETWEEN;
    private static final int TOUCH = MESSAGE + BETWEEN;
    private static final int RENDERED = TOUCH + BETWEEN;
    private static final int UNHEARD = RENDERED + BETWEEN;
    private static final int FASTER = UNHEARD + 3 * BETWEEN;
    private static final int LAST = FASTER + 3 * BETWEEN;

    private Janks() {}

    /** Runs the whole scenario. */
    public static void main(String[] arguments) {
        Looper.prepareMainLooper();
        Options options = new Options(arguments);
        TestVsync.setPeriodNanos(HZ_60_NS);
        Slow slow = new Slow();
        FrameConfig frames = new FrameConfig.Builder().stages(true).listener(slow).build();
        if (!Loopbox.install(options.config().frames(frames).build()).isOn()) {
            throw new AssertionError("not installed");
        }
        Context context = new ContextImpl(new File(options.text("dir", ".")), "com.example.feed", "com.example.feed");
        final Window window = new PhoneWindow(context);
        window.setContentView(new Page(context, slow));
        new Handler()
                .post(
                        new Runnable() {
                            @Override
                            public void run() {
                                Loopbox.frames().begin("janks");
                                new TestViewRoot(window);
                                Loopbox.frames().watch(window);
                            }
                        });
        Looper.loop();
    }

    /**
     * A listener of frames that blocks when {@code wanted} is set. It returns when more frames have been
     * drawn than the platform keeps for a listener.
     */
    private static final class Slow implements FrameListener {
        private static final int DRAWN_MEANWHILE = 24;

        private final CountDownLatch left = new CountDownLatch(DRAWN_MEANWHILE);
        private volatile boolean wanted;
        private volatile boolean stands;

        @Override
        public void onWindow(FrameWindow window) {
            if (!wanted) {
                return;
            }
            stands = true;
            try {
                left.await();
            } catch (InterruptedException interrupted) {
                throw new IllegalStateException(interrupted);
            }
            wanted = false;
        }

        /**
         * Called for each frame. Counts the frame if the listener blocks now. Returns {@code wanted}. A frame
         * sets it to true, to request that the listener blocks. The listener sets it to false when it
         * returns.
         */
        boolean takes() {
            if (wanted && stands) {
                left.countDown();
            }
            return wanted;
        }

        @Override
        public void onGesture(FrameGesture gesture) {}

        @Override
        public void onSkippedFrames(int frames, String scene) {}
    }

    private static final class Page extends View {
        private final Handler handler = new Handler();
        private final Slow slow;
        private int frame;
        private boolean touched;

        Page(Context context, Slow slow) {
            super(context);
            this.slow = slow;
        }

        @Override
        protected void onDraw(Canvas canvas) {
            if (slow.takes() || (frame == TOUCH && !touched)) {
                postInvalidateOnAnimation();
                return;
            }
            frame++;
            if (frame == DRAWN) {
                bind();
            } else if (frame == MESSAGE) {
                // In front of the barrier behind which ordinary messages wait for the next frame.
                Message message = Message.obtain(handler, new Loader());
                message.setAsynchronous(true);
                handler.sendMessage(message);
            } else if (frame == TOUCH) {
                new Thread(new Finger(), "finger").start();
            } else if (frame == RENDERED) {
                TestRenderThread.holdUp(STALL_MS);
            } else if (frame == UNHEARD) {
                slow.wanted = true;
            } else if (frame == FASTER) {
                TestVsync.switchTo(HZ_120_NS);
            } else if (frame == LAST) {
                Loopbox.frames().end("janks");
                handler.post(new Over());
                return;
            }
            postInvalidateOnAnimation();
        }

        private static void bind() {
            Work.busy(STALL_MS);
        }

        @Override
        public boolean onTouchEvent(MotionEvent event) {
            if (event.getActionMasked() == MotionEvent.ACTION_DOWN) {
                if (isInAFrame()) {
                    // Its frame came before the looper saw it, and took it along. That is a stall of the
                    // frame's own.
                    new Thread(new Finger(), "finger").start();
                } else {
                    Work.busy(STALL_MS);
                    touched = true;
                }
            }
            return true;
        }

        private static boolean isInAFrame() {
            for (StackTraceElement caller : new Throwable().getStackTrace()) {
                if (caller.getMethodName().equals("doFrame")) {
                    return true;
                }
            }
            return false;
        }
    }

    /** Loads data on the wrong thread. */
    private static final class Loader implements Runnable {
        @Override
        public void run() {
            parse();
        }

        private static void parse() {
            Work.busy(STALL_MS);
        }
    }

    /** A touch. It arrives by a file descriptor, in no message. */
    private static final class Finger implements Runnable {
        @Override
        public void run() {
            long now = SystemClock.uptimeMillis();
            TestInput.inject(MotionEvent.obtain(now, now, MotionEvent.ACTION_DOWN, 0, 0, 0));
            TestInput.inject(MotionEvent.obtain(now, now, MotionEvent.ACTION_UP, 0, 0, 0));
        }
    }

    private static final class Over implements Runnable {
        @Override
        public void run() {
            Script.dump("all of it has happened");
            Runtime.getRuntime().halt(0);
        }
    }
}
