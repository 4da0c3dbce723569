package bench;

import android.os.Handler;
import android.os.HandlerThread;
import android.os.Looper;
import android.util.Log;
import dalvik.system.VMDebug;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Existing ways to find messages that block, each with a Printer and with posts to a thread for each message:
 * the block monitor of the huansky article, the performance monitor of the uiperf article, and BlockCanary.
 * What they do for each message is their own code; {@link StallMonitors} has what they do for a message that
 * blocks.
 */
abstract class BlockMonitors implements HookBench.Variant, android.util.Printer {
    private HandlerThread thread;

    /** The thread that watches. */
    Handler watcher;

    @Override public boolean install() {
        thread = new HandlerThread("watcher");
        thread.start();
        watcher = new Handler(thread.getLooper());
        Looper.getMainLooper().setMessageLogging(this);
        return true;
    }

    @Override public void uninstall() throws Exception {
        Looper.getMainLooper().setMessageLogging(null);
        thread.quit();
        thread.join();
    }

    /** Logs a stack 200 ms after a message began, unless it has ended by then. */
    static class Block extends BlockMonitors implements Runnable {
        private static final long TIME_BLOCK = 200L;

        @Override public void println(String line) {
            if (line.startsWith(">>>>> Dispatching")) {
                watcher.postDelayed(this, TIME_BLOCK);
            }
            if (line.startsWith("<<<<< Finished")) {
                watcher.removeCallbacks(this);
            }
        }

        @Override public void run() {
            StringBuilder lines = new StringBuilder();
            for (StackTraceElement frame : Looper.getMainLooper().getThread().getStackTrace()) {
                lines.append(frame.toString() + "\n");
            }
            Log.e("LogMonitor", lines.toString());
        }
    }

    /** Samples while it is switched on; each interval starts when the previous one has ended. */
    static class PostedSampler implements Runnable {
        private final Handler handler;
        private final long delayMs;
        private final AtomicBoolean samples = new AtomicBoolean();

        PostedSampler(Handler handler, long delayMs) {
            this.handler = handler;
            this.delayMs = delayMs;
        }

        void start() {
            if (!samples.getAndSet(true)) {
                handler.removeCallbacks(this);
                handler.postDelayed(this, delayMs);
            }
        }

        void stop() {
            if (samples.getAndSet(false)) {
                handler.removeCallbacks(this);
            }
        }

        /** Takes a sample. */
        void sample() {}

        @Override public void run() {
            sample();
            if (samples.get()) {
                handler.postDelayed(this, delayMs);
            }
        }
    }

    /** Assigns levels by the wall clock; its sampler is started by the first message and is never stopped. */
    static class Uiperf extends BlockMonitors {
        private PostedSampler sampler;
        private long startTime;
        private int level;

        @Override public boolean install() {
            boolean installed = super.install();
            sampler = sampler(watcher, 500);
            return installed;
        }

        PostedSampler sampler(Handler handler, long delayMs) {
            return new PostedSampler(handler, delayMs);
        }

        /** A message of this level has ended, with this line. */
        void ended(String line, int level) {}

        @Override public void uninstall() throws Exception {
            sampler.stop();
            super.uninstall();
        }

        @Override public void println(String line) {
            if (startTime <= 0) {
                startTime = System.currentTimeMillis();
                sampler.start();
            } else {
                long took = System.currentTimeMillis() - startTime;
                level = took > 300 ? 2 : took > 100 ? 1 : 0;
                startTime = 0;
                ended(line, level);
            }
        }
    }

    /**
     * Reads the wall clock and the thread's CPU clock at both ends of a message, and starts and stops two
     * samplers for each message.
     */
    static class Canary extends BlockMonitors {
        PostedSampler stacks;
        PostedSampler cpu;
        private long startMs;
        private long startCpuMs;
        private boolean started;

        @Override public boolean install() {
            boolean installed = super.install();
            long delayMs = blockMs() * 8 / 10;
            stacks = stacks(watcher, delayMs);
            cpu = cpu(watcher, delayMs);
            return installed;
        }

        /** The limit in milliseconds, by default BlockCanary's. */
        long blockMs() {
            return 3_000;
        }

        PostedSampler stacks(Handler handler, long delayMs) {
            return new PostedSampler(handler, delayMs);
        }

        PostedSampler cpu(Handler handler, long delayMs) {
            return new PostedSampler(handler, delayMs);
        }

        /** A message took longer than the limit. */
        void blocked(long startMs, long endMs, long cpuMs) {}

        @Override public void println(String line) {
            if (!started) {
                startMs = System.currentTimeMillis();
                startCpuMs = VMDebug.threadCpuTimeNanos() / 1_000_000;
                started = true;
                stacks.start();
                cpu.start();
            } else {
                long endMs = System.currentTimeMillis();
                started = false;
                if (endMs - startMs > blockMs()) {
                    blocked(startMs, endMs, VMDebug.threadCpuTimeNanos() / 1_000_000 - startCpuMs);
                }
                stacks.stop();
                cpu.stop();
            }
        }
    }
}
