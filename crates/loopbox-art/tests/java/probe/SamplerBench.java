package probe;

import dalvik.annotation.optimization.FastNative;

/**
 * The main thread computes, and then waits, at several stack depths. Meanwhile the example library art_bench
 * samples it in four ways. Arguments: the number of samples of each way, then the depths.
 */
public final class SamplerBench {
    static {
        System.loadLibrary("art_bench");
    }

    private static final Object UNOWNED = new Object();
    private static Thread main;
    private static volatile boolean done;
    private static volatile int sink;

    private SamplerBench() {}

    /** Discovers ART. Returns null, or the reason why it failed. */
    private static native String install();

    /** Starts to sample this thread; {@link #finish} is called at the end. */
    private static native void start(String phase, int samples);

    /** Walks the suspended thread's stack; called by the sampling thread. */
    @FastNative
    private static native void walk();

    /** Takes a stack by the public API; called by the sampling thread. */
    private static int trace() {
        return main.getStackTrace().length;
    }

    private static void finish() {
        done = true;
    }

    public static void main(String[] arguments) throws Exception {
        main = Thread.currentThread();
        String off = install();
        if (off != null) {
            throw new AssertionError(off);
        }
        int samples = Integer.parseInt(arguments[0]);
        for (int i = 1; i < arguments.length; i++) {
            int depth = Integer.parseInt(arguments[i]);
            for (int phase = 0; phase < 2; phase++) {
                done = false;
                // This frame and those of the phase itself.
                deep(depth - (phase == 0 ? 3 : 5), phase == 0, samples);
            }
        }
        System.out.println("done");
    }

    private static void deep(int more, boolean busy, int samples) throws InterruptedException {
        if (more > 0) {
            deep(more - 1, busy, samples);
        } else if (busy) {
            compute(samples);
        } else {
            await(samples);
        }
    }

    private static void compute(int samples) {
        start("busy", samples);
        int x = 1;
        while (!done) {
            x = x * 31 + 7;
            sink = x;
        }
    }

    private static void await(int samples) throws InterruptedException {
        start("waiting", samples);
        synchronized (UNOWNED) {
            while (!done) {
                UNOWNED.wait(50);
            }
        }
    }
}
