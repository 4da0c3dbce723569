package com.android.internal.hidden_from_bootclasspath.android.os;

/**
 * The flags as an app of a shipped build sees them. -Dloopbox.queue, which the testbed's name sets, selects
 * the other queue on a level that has two.
 */
public final class Flags {
    private static final String QUEUE = System.getProperty("loopbox.queue", "");

    /** The flag that API 36 reads. */
    public static boolean forceConcurrentMessageQueue() { return QUEUE.equals("concurrent"); }
    public static boolean messageQueueForceLegacy() { return false; }
    public static boolean messageQueueTailTracking() { return true; }

    /** The flag that API 37 reads. */
    public static boolean useConcurrentMessageQueueInApps() { return !QUEUE.equals("legacy"); }
    public static boolean messageQueueMonitoringEnabled() { return false; }
    public static boolean nativeLooperSkipEpollWaitForZeroTimeout() { return false; }
    public static boolean perfettoSdkTracingV3() { return false; }

    private Flags() {}
}
