package android.os;

/** Of the method that the recorder uses. */
public final class Debug {
    /** What {@link #isDebuggerConnected} says. */
    public static volatile boolean connected;

    private Debug() {}

    public static boolean isDebuggerConnected() {
        return connected;
    }
}
