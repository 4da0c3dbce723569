package android.os;

import dalvik.system.VMDebug;

/** The methods that the recorder and SDKs use. */
public final class Debug {
    /** Makes {@link #isDebuggerConnected} return true. */
    public static volatile boolean connected;

    private Debug() {}

    /** The platform's type. Here it has no value for any figure of the process's memory. */
    public static class MemoryInfo {
        public String getMemoryStat(String name) {
            return null;
        }
    }

    public static void getMemoryInfo(MemoryInfo info) {}

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
