package bench;

import android.view.Choreographer;
import io.loopbox.Config;
import io.loopbox.FrameConfig;
import io.loopbox.Loopbox;
import java.io.File;
import java.util.concurrent.locks.LockSupport;

/** Ways to watch frames on the main thread: none, a minimal one, and Loopbox's. */
final class FrameWays {
    private FrameWays() {}

    /** The base of all ways to watch frames. By itself it watches nothing. */
    static class Way {
        /**
         * Installs the way.
         *
         * @return false when this Android does not have it
         */
        boolean install() throws Exception {
            return true;
        }

        /** Called before the first frame. Main thread, in a message. */
        void begin() {}

        /** Called after the last frame. Main thread. */
        void end() {}

        /** Waits until the way is finished with {@code frames} frames. */
        void await(int frames) throws InterruptedException {}

        void uninstall() throws Exception {}
    }

    /** A callback that only requests the next frame. */
    static final class Empty extends Way implements Choreographer.FrameCallback {
        /** Whether frames are watched now. */
        private boolean on;

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

    /** The way of Loopbox. */
    static final class Ours extends Way {
        private static final long PAUSE_NS = 5_000_000;
        private static final long LIMIT_NS = 10_000_000_000L;

        private final boolean hook;
        private final boolean frames;

        /** @param hook whether it also records messages, with its Observer */
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

        /** Checks that each frame was counted; otherwise the figures would not be those of counting. */
        @Override void await(final int expected) throws InterruptedException {
            if (!frames) {
                return;
            }
            final int[] counted = new int[1];
            Thread asks = new Thread("asks") {
                @Override public void run() {
                    long until = System.nanoTime() + LIMIT_NS;
                    while (counted[0] < expected && System.nanoTime() < until) {
                        counted[0] = Loopbox.frames().snapshot().getProcess().getFrames();
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
