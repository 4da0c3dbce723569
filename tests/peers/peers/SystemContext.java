package peers;

import android.app.ActivityManager;
import android.content.Context;
import android.content.pm.PackageInfo;
import android.content.pm.PackageManager;
import android.os.Process;
import android.os.SystemClock;
import java.util.ArrayList;
import java.util.List;
import scenario.Options;
import scenario.Phone;

/**
 * The Context of an app. Five seconds after {@link #hangs}, the system says that the app's process does not
 * respond.
 */
final class SystemContext extends Phone {
    /** How long the system waits before it says that the process does not respond. */
    private static final long INPUT_MS = 5_000;

    private volatile long hangsMs = Long.MAX_VALUE;

    SystemContext(String[] arguments) {
        super(new Options(arguments));
    }

    /** From now on the system waits for the app. */
    void hangs() {
        hangsMs = SystemClock.uptimeMillis();
    }

    /**
     * The system says from now on that the process does not respond, as if it had already waited long enough.
     */
    void hangsAtOnce() {
        hangsMs = SystemClock.uptimeMillis() - INPUT_MS;
    }

    void responds() {
        hangsMs = Long.MAX_VALUE;
    }

    @Override public PackageManager getPackageManager() {
        return new PackageManager() {
            @Override public PackageInfo getPackageInfo(String packageName, int flags) throws NameNotFoundException {
                throw new NameNotFoundException();
            }
        };
    }

    @Override public Object getSystemService(String name) {
        if (!Context.ACTIVITY_SERVICE.equals(name)) {
            return super.getSystemService(name);
        }
        final ActivityManager of = (ActivityManager) super.getSystemService(name);
        return new ActivityManager() {
            @Override public List<ProcessErrorStateInfo> getProcessesInErrorState() {
                List<ProcessErrorStateInfo> states = new ArrayList<>();
                if (SystemClock.uptimeMillis() - hangsMs >= INPUT_MS) {
                    ProcessErrorStateInfo state = new ProcessErrorStateInfo();
                    state.condition = ProcessErrorStateInfo.NOT_RESPONDING;
                    state.pid = Process.myPid();
                    state.shortMsg = "Input dispatching timed out";
                    states.add(state);
                }
                return states;
            }

            @Override public List<android.app.ApplicationExitInfo> getHistoricalProcessExitReasons(String packageName, int pid, int max) {
                return of.getHistoricalProcessExitReasons(packageName, pid, max);
            }
        };
    }
}
