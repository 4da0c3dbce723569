package android.app;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.Semaphore;
import java.util.function.Consumer;

/** What the system reports about this app's processes. Here the scripted app decides it. */
public abstract class ActivityManager {
    /** The platform's type, as far as a testbed needs it. */
    public static class ProcessErrorStateInfo {
        public static final int NOT_RESPONDING = 2;
        public int condition;
        public int pid;
        public String shortMsg;
    }

    /** The platform's type, as far as a testbed needs it. */
    public static class RunningAppProcessInfo {
        public static final int IMPORTANCE_FOREGROUND = 100;
        public static final int REASON_UNKNOWN = 0;
        public int importance;
        public int importanceReasonCode;
    }

    /** Returns null when there are none, as on a device. */
    public List<RunningAppProcessInfo> getRunningAppProcesses() {
        return null;
    }

    /** The importance that the system reports for this process, or that the process is gone. */
    public static volatile int importance = RunningAppProcessInfo.IMPORTANCE_FOREGROUND;

    public static volatile int importanceReasonCode;
    public static volatile boolean isDead;

    /** {@link #getMyMemoryState} answers only while this semaphore has a permit. */
    public static final Semaphore ANSWERS = new Semaphore(1);

    public static void getMyMemoryState(RunningAppProcessInfo own) {
        ANSWERS.acquireUninterruptibly();
        ANSWERS.release();
        if (isDead) {
            throw new IllegalStateException("the system restarts");
        }
        own.importance = importance;
        own.importanceReasonCode = importanceReasonCode;
    }

    /** The platform's type, as far as a testbed needs it. */
    public static class MemoryInfo {
        public long availMem;
        public long totalMem;
        public long threshold;
        public boolean lowMemory;
    }

    public abstract List<ProcessErrorStateInfo> getProcessesInErrorState();

    /** The memory of a device with 4 GB, half of it free. */
    public void getMemoryInfo(MemoryInfo info) {
        info.totalMem = 4L << 30;
        info.availMem = 2L << 30;
        info.threshold = 256L << 20;
        info.lowMemory = false;
    }

    /** Returns the newest first, never null, as on a device. */
    public List<ApplicationStartInfo> getHistoricalProcessStartReasons(int max) {
        return new ArrayList<ApplicationStartInfo>();
    }

    /** Refuses: only the framework of API 37 has warnings, and that has its own manager. */
    public void registerAnrWarningListener(Executor executor, Consumer<AnrWarningResult> listener) {
        throw new UnsupportedOperationException("no framework of API 37");
    }

    public void unregisterAnrWarningListener(Consumer<AnrWarningResult> listener) {
        throw new UnsupportedOperationException("no framework of API 37");
    }

    public abstract List<ApplicationExitInfo> getHistoricalProcessExitReasons(String packageName, int pid, int max);
}
