package android.app;

import android.content.Context;
import java.util.ArrayList;
import java.util.List;

/**
 * The level's own manager, which calls {@code TestSystemServer}. The test decides what it answers about
 * processes.
 */
public final class TestActivityManager extends ActivityManager {
    /** How processes ended, newest first. */
    public final List<ApplicationExitInfo> exits = new ArrayList<ApplicationExitInfo>();

    public TestActivityManager(Context context) {
        super(context, null);
    }

    @Override
    public List<ProcessErrorStateInfo> getProcessesInErrorState() {
        return new ArrayList<ProcessErrorStateInfo>();
    }

    @Override
    public List<ApplicationStartInfo> getHistoricalProcessStartReasons(int max) {
        return new ArrayList<ApplicationStartInfo>();
    }

    @Override
    public List<ApplicationExitInfo> getHistoricalProcessExitReasons(String packageName, int pid, int max) {
        return exits;
    }
}
