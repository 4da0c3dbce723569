package com.othersdk;

import android.os.MessageQueue;
import java.lang.reflect.Method;

/**
 * Another library that replaces the method in which a MessageQueue waits; the host program has its native
 * half.
 */
public final class PollWrapper {
    private PollWrapper() {}

    /**
     * Finds the place where the VM stores the address of the native function. Call this before any library
     * replaces the function.
     */
    public static void find() throws NoSuchMethodException {
        Method poll = MessageQueue.class.getDeclaredMethod("nativePollOnce", long.class, int.class);
        find(poll);
    }

    private static native void find(Method poll);

    /** Replaces the function by a wrapper, which calls the previous function. */
    public static native void wrap();

    /** Restores the function that {@link #wrap} found. */
    public static native void restore();

    /** Restores the very first function, whatever is there now. */
    public static native void restoreFirst();

    /**
     * Makes the VM call generated code in place of the native function. The code jumps to the function, and
     * is in memory that is not mapped from a file.
     */
    public static native void jump();

    /** Whether the VM calls the wrapper. */
    public static native boolean isThere();

    /** Whether the VM calls the original native function, which was there before any library replaced it. */
    public static native boolean isFirst();

    /** How often the wrapper was called. */
    public static native int calls();
}
