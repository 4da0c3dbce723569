package android.os;

import dalvik.system.VMDebug;

/** The methods that the recorder uses. */
public final class Debug {
    /** Makes {@link #isDebuggerConnected} return true. */
    public static volatile boolean connected;

    private Debug() {}

    public static boolean isDebuggerConnected() {
        return connected || VMDebug.isDebuggerConnected();
    }

    public static boolean waitingForDebugger() {
        return false;
    }

    public static String getRuntimeStat(String name) {
        return VMDebug.getRuntimeStat(name);
    }
}
