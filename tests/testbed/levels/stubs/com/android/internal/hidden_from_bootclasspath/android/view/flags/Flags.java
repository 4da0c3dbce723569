package com.android.internal.hidden_from_bootclasspath.android.view.flags;

/** Flags that API 37 reads. */
public final class Flags {
    public static boolean bufferStuffingMultiRecovery() { return false; }
    public static boolean bufferStuffingRecoveryThreshold() { return false; }

    private Flags() {}
}
