package android.view.flags;

/** Flags that API 36 reads. */
public final class Flags {
    public static boolean bufferStuffingRecovery() { return false; }

    private Flags() {}
}
