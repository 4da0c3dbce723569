package android.app;

import android.content.Context;
import android.content.pm.ApplicationInfo;
import android.content.pm.PackageInfo;
import android.content.pm.PackageManager;
import android.hardware.display.DisplayManager;
import java.io.File;
import java.util.ArrayList;
import java.util.List;

/** What the system gives a new process: the Context that its Application wraps. */
public final class ContextImpl extends Context {
    /** Set once the system has created it, as on a device after attachBaseContext. */
    public Application application;

    private final File directory;
    private final String packageName;
    private final ApplicationInfo info = new ApplicationInfo();

    /**
     * {@code directory} is the app's own folder. {@code processName} is the name of the app's main process.
     */
    public ContextImpl(File directory, String packageName, String processName) {
        this.directory = directory;
        this.packageName = packageName;
        info.processName = processName;
    }

    @Override
    public Context getApplicationContext() {
        return application;
    }

    @Override
    public ApplicationInfo getApplicationInfo() {
        return info;
    }

    @Override
    public String getPackageName() {
        return packageName;
    }

    @Override
    public PackageManager getPackageManager() {
        return new PackageManager() {
            @Override
            public PackageInfo getPackageInfo(String packageName, int flags) {
                PackageInfo info = new PackageInfo();
                info.versionName = "2.1";
                info.versionCode = 210;
                return info;
            }

            @Override
            public ApplicationInfo getApplicationInfo(String packageName, int flags) {
                return info();
            }
        };
    }

    private ApplicationInfo info() {
        return info;
    }

    @Override
    public File getNoBackupFilesDir() {
        return directory;
    }

    @Override
    public Object getSystemService(String name) {
        if (DISPLAY_SERVICE.equals(name)) {
            return new DisplayManager(this);
        }
        return new ActivityManager() {
            @Override
            public List<ProcessErrorStateInfo> getProcessesInErrorState() {
                return null;
            }

            @Override
            public List<ApplicationExitInfo> getHistoricalProcessExitReasons(String packageName, int pid, int max) {
                return new ArrayList<ApplicationExitInfo>();
            }
        };
    }
}
