package android.app;

import java.util.List;

/** The part of android.app.ActivityManager that the recorder uses. */
public class ActivityManager {
    ActivityManager() {}

    public native List<ProcessErrorStateInfo> getProcessesInErrorState();

    /** Since API 30; newest first. */
    public native List<ApplicationExitInfo> getHistoricalProcessExitReasons(String packageName, int pid, int max);

    /** Since API 35; newest first. */
    public native List<ApplicationStartInfo> getHistoricalProcessStartReasons(int max);

    public static class ProcessErrorStateInfo {
        public static final int NOT_RESPONDING = 2;
        public int condition;
        public int pid;
        public String shortMsg;
    }
}
