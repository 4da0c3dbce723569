package android.os;

/** Ids are the real ones of this process and thread; priorities are left to the host. */
public class Process {
    public static final int THREAD_PRIORITY_DEFAULT = 0;
    public static final int THREAD_PRIORITY_BACKGROUND = 10;

    public static int myPid() { return android.system.Os.getpid(); }
    public static int myUid() { return android.system.Os.getuid(); }
    public static int myTid() { return BedNative.gettid(); }
    public static void setThreadPriority(int priority) {}

    // What newer levels ask for; an isolated process has no name there.
    public static final int getProcessGroup(int pid) { return 0; }
    public static final boolean isIsolated() { return false; }
    public static String myProcessName() { return "com.example"; }

    private static long startElapsedRealtime;
    private static long startUptimeMillis;

    public static final long getStartElapsedRealtime() { return startElapsedRealtime; }
    public static final long getStartUptimeMillis() { return startUptimeMillis; }

    /** Called by ActivityThread.handleBindApplication, with the time at which it began. */
    public static final void setStartTimes(long elapsedRealtime, long uptimeMillis) {
        startElapsedRealtime = elapsedRealtime;
        startUptimeMillis = uptimeMillis;
    }
}
