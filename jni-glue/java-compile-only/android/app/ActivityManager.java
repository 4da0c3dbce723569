package android.app;

import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.Consumer;

/** The part of android.app.ActivityManager that the recorder uses. */
public class ActivityManager {
    ActivityManager() {}

    public native List<ProcessErrorStateInfo> getProcessesInErrorState();

    /** Since API 30; newest first. */
    public native List<ApplicationExitInfo> getHistoricalProcessExitReasons(String packageName, int pid, int max);

    /** Since API 35; newest first. */
    public native List<ApplicationStartInfo> getHistoricalProcessStartReasons(int max);

    /** Since API 37. */
    public native void registerAnrWarningListener(Executor executor, Consumer<AnrWarningResult> listener);

    /** Since API 37. */
    public native void unregisterAnrWarningListener(Consumer<AnrWarningResult> listener);

    public static native void getMyMemoryState(RunningAppProcessInfo own);

    public static class RunningAppProcessInfo {
        public static final int IMPORTANCE_FOREGROUND = 100;
        public static final int REASON_UNKNOWN = 0;
        public int importance;
        public int importanceReasonCode;
    }

    public static class ProcessErrorStateInfo {
        public static final int NOT_RESPONDING = 2;
        public int condition;
        public int pid;
        public String shortMsg;
    }
}
