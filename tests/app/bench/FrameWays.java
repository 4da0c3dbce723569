package bench;

import android.os.Handler;
import android.os.Looper;
import android.os.Message;
import android.util.Printer;
import android.view.Choreographer;
import io.loopbox.Config;
import io.loopbox.FrameConfig;
import io.loopbox.Loopbox;
import java.io.File;
import java.lang.reflect.Field;
import java.util.concurrent.locks.LockSupport;

/** Ways to watch frames on the main thread, each as it is done elsewhere, and Loopbox's. */
final class FrameWays {
    private FrameWays() {}

    /** Nothing watches. */
    static class Way {
        /** @return false when this Android does not have it */
        boolean install() throws Exception {
            return true;
        }

        /** Frames come from now on. Main thread, in a message. */
        void begin() {}

        /** The last frame is over. Main thread. */
        void end() {}

        /** Waits until it is finished with so many frames. */
        void await(int frames) throws InterruptedException {}

        void uninstall() throws Exception {}
    }

    /** A callback that does nothing but come again. */
    static class Empty extends Way implements Choreographer.FrameCallback {
        /** Frames are watched. */
        boolean on;

        @Override void begin() {
            on = true;
            Choreographer.getInstance().postFrameCallback(this);
        }

        @Override void end() {
            on = false;
        }

        @Override public void doFrame(long frameTimeNanos) {
            if (on) {
                Choreographer.getInstance().postFrameCallback(this);
            }
        }
    }

    /** The counter of the article on block monitors: its FPSFrameCallback. */
    static final class Article extends Empty {
        private static final long SKIPPED_FRAME_WARNING_LIMIT = 30;

        private final long frameIntervalNanos = (long) (1_000_000_000 / 60.0);
        private long lastFrameTimeNanos;
        private long warnings;

        @Override public void doFrame(long frameTimeNanos) {
            if (lastFrameTimeNanos == 0) {
                lastFrameTimeNanos = frameTimeNanos;
            }
            long jitterNanos = frameTimeNanos - lastFrameTimeNanos;
            if (jitterNanos >= frameIntervalNanos) {
                long skippedFrames = jitterNanos / frameIntervalNanos;
                if (skippedFrames > SKIPPED_FRAME_WARNING_LIMIT) {
                    warnings++;
                }
            }
            lastFrameTimeNanos = frameTimeNanos;
            super.doFrame(frameTimeNanos);
        }
    }

    /** A Printer that does nothing: what the strings cost that Looper builds for any Printer. */
    static class EmptyPrinter extends Way implements Printer {
        @Override boolean install() throws Exception {
            Looper.getMainLooper().setMessageLogging(this);
            return true;
        }

        @Override void uninstall() {
            Looper.getMainLooper().setMessageLogging(null);
        }

        @Override public void println(String line) {}
    }

    /**
     * JankStats on Android 5 and 6: for each frame a message at the front of the queue, which runs when the frame's message is
     * over. There it is sent before a view draws, here by a callback. From Android 7 on it does nothing on the main thread.
     */
    static final class JankStats21 extends Empty {
        private final Handler handler = new Handler(Looper.getMainLooper());
        private Field lastFrameTime;
        private long expectedNanos = -1;
        private boolean iterating;
        private long janks;

        @Override boolean install() throws Exception {
            lastFrameTime = Choreographer.class.getDeclaredField("mLastFrameTimeNanos");
            lastFrameTime.setAccessible(true);
            return true;
        }

        @Override public void doFrame(long frameTimeNanos) {
            super.doFrame(frameTimeNanos);
            final long start;
            try {
                start = (Long) lastFrameTime.get(Choreographer.getInstance());
            } catch (IllegalAccessException refused) {
                throw new IllegalStateException(refused);
            }
            Message message = Message.obtain(handler, new Runnable() {
                @Override public void run() {
                    ended(start);
                }
            });
            message.setAsynchronous(true);
            handler.sendMessageAtFrontOfQueue(message);
        }

        private void ended(long start) {
            long took = System.nanoTime() - start;
            if (expectedNanos < 0) {
                expectedNanos = (long) (1_000_000_000 / 60f);
            }
            synchronized (this) {
                iterating = true;
                if (took > expectedNanos * 2) {
                    janks++;
                }
                iterating = false;
            }
        }
    }

    /** Loopbox. */
    static final class Ours extends Way {
        private static final long PAUSE_NS = 5_000_000;
        private static final long LIMIT_NS = 10_000_000_000L;

        private final boolean hook;
        private final boolean frames;

        /** @param hook whether it records messages, too, by its Observer */
        Ours(boolean hook, boolean frames) {
            this.hook = hook;
            this.frames = frames;
        }

        @Override boolean install() {
            Config.Builder config = new Config.Builder(new File(System.getProperty("loopbox.dir")));
            config.hook(hook ? Config.Hook.OBSERVER : Config.Hook.NONE);
            if (frames) {
                config.frames(new FrameConfig.Builder().build());
            }
            boolean on = Loopbox.install(config.build()).isOn();
            if (on) {
                scenario.Script.awaitSampler();
            }
            return on;
        }

        @Override void begin() {
            Loopbox.frames().begin("bench");
        }

        @Override void end() {
            Loopbox.frames().end("bench");
        }

        /** Each frame was counted, or the figures would not be those of counting. */
        @Override void await(final int expected) throws InterruptedException {
            if (!frames) {
                return;
            }
            final int[] counted = new int[1];
            Thread asks = new Thread("asks") {
                @Override public void run() {
                    long until = System.nanoTime() + LIMIT_NS;
                    while (counted[0] < expected && System.nanoTime() < until) {
                        counted[0] = Loopbox.frames().snapshot().process().frames();
                        LockSupport.parkNanos(PAUSE_NS);
                    }
                }
            };
            asks.start();
            asks.join();
            if (counted[0] < expected) {
                throw new IllegalStateException("counted " + counted[0] + " of " + expected + " frames: " + Loopbox.status());
            }
        }

        @Override void uninstall() {
            Loopbox.uninstall();
        }
    }
}
