package android.os;

/** As far as it is used here: when the process was bound to its app is known since API 24. */
public class Process {
    public static final int THREAD_PRIORITY_BACKGROUND = 10;

    public static final void setThreadPriority(int priority) {
        throw new UnsupportedOperationException();
    }

    public static final int myPid() {
        throw new UnsupportedOperationException();
    }

    public static final long getStartUptimeMillis() {
        throw new UnsupportedOperationException();
    }
}
