package android.app;

import java.util.ArrayList;
import java.util.List;

/** What the system reports about this app's processes; the scripted app plays the system. */
public abstract class ActivityManager {
    /** As on a device. */
    public static class ProcessErrorStateInfo {
        public static final int NOT_RESPONDING = 2;
        public int condition;
        public int pid;
        public String shortMsg;
    }

    public abstract List<ProcessErrorStateInfo> getProcessesInErrorState();

    /** As on a device: newest first, never null. */
    public List<ApplicationStartInfo> getHistoricalProcessStartReasons(int max) {
        return new ArrayList<ApplicationStartInfo>();
    }

    public abstract List<ApplicationExitInfo> getHistoricalProcessExitReasons(String packageName, int pid, int max);
}
