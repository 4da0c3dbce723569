package android.os;

/**
 * The part of android.os.Process that the recorder uses. Since API 24 it reports when the process was bound
 * to its app.
 */
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
