package probe;

import dalvik.annotation.optimization.FastNative;

/** The natives of the library of {@code lab-probe}. */
final class Probe {
    static {
        System.loadLibrary("art_probe");
    }

    private Probe() {}

    /** Discovers ART. Returns what was found, or why it failed. */
    static native String install();

    /**
     * Starts the sampler. It samples every {@code periodUs} microseconds. With 0 it samples only when {@link
     * #hold} requests it.
     */
    static native void start(int periodUs);

    /** Ends sampling and {@link #watchLocks}, and waits until they have ended. */
    static native void stop();

    /** Records the suspended thread's stack; called by the sampler. */
    @FastNative
    static native void walk();

    /** Waits until this thread was sampled once, and returns its stack. */
    static native String hold();

    /**
     * Begins to follow the locks that main waits for. {@link #stop} ends this. Prints each change if {@code
     * print} is true.
     */
    static native void watchLocks(boolean print);

    static native long samples();

    /** How often main was seen waiting for a lock. */
    static native long locksSeen();

    /**
     * Samples this thread while it holds the dynamic loader's lock or, when {@code loader} is false,
     * malloc's.
     */
    static native String parked(boolean loader);

    static native void log(boolean on);

    static native String stats();

    /** The resident memory in KiB, and the bytes allocated by malloc. */
    static native String memory();

    static native String misuse();

    /** Where in an ArtMethod this runtime keeps a native method's function, or why that is not known. */
    static native String entry();
}
