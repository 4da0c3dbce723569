package android.view.flags;

/** Of API 36. */
public final class Flags {
    public static boolean bufferStuffingRecovery() { return false; }

    private Flags() {}
}
