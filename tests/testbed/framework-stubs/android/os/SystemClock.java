package android.os;

import dalvik.system.VMDebug;

/** uptimeMillis is CLOCK_MONOTONIC as on a device: libcore's nanoTime reads that clock. */
public final class SystemClock {
    public static long uptimeMillis() { return System.nanoTime() / 1_000_000L; }

    public static long elapsedRealtime() { return uptimeMillis(); }

    public static long currentThreadTimeMillis() { return VMDebug.threadCpuTimeNanos() / 1_000_000L; }

    public static void sleep(long ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private SystemClock() {}
}
