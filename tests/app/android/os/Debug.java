package android.os;

import dalvik.system.VMDebug;

/** Of the methods that the recorder uses. */
public final class Debug {
    /** What {@link #isDebuggerConnected} returns. */
    public static volatile boolean connected;

    private Debug() {}

    public static boolean isDebuggerConnected() {
        return connected;
    }

    public static boolean waitingForDebugger() {
        return false;
    }

    public static String getRuntimeStat(String name) {
        return VMDebug.getRuntimeStat(name);
    }
}
