package com.android.internal.hidden_from_bootclasspath.android.view.flags;

/** Of API 37. */
public final class Flags {
    public static boolean bufferStuffingMultiRecovery() { return false; }
    public static boolean bufferStuffingRecoveryThreshold() { return false; }

    private Flags() {}
}
