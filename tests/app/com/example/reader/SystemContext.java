package com.example.reader;

import android.app.ActivityManager;
import android.app.Application;
import android.app.ApplicationExitInfo;
import android.content.Context;
import android.content.pm.ApplicationInfo;
import android.content.pm.PackageInfo;
import android.content.pm.PackageManager;
import java.io.File;
import java.util.ArrayList;
import java.util.List;

/** What the system gives a new process: the Context behind its Application. */
final class SystemContext extends Context {
    /** Is there once the system has made it, as on a device after attachBaseContext. */
    Application application;

    private final File directory;
    private final String processName;

    SystemContext(File directory, String processName) {
        this.directory = directory;
        this.processName = processName;
    }

    @Override
    public Context getApplicationContext() {
        return application;
    }

    @Override
    public ApplicationInfo getApplicationInfo() {
        ApplicationInfo info = new ApplicationInfo();
        info.processName = processName;
        return info;
    }

    @Override
    public String getPackageName() {
        return "com.example.reader";
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
        };
    }

    @Override
    public File getNoBackupFilesDir() {
        return directory;
    }

    @Override
    public Object getSystemService(String name) {
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
