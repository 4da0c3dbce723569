package android.content;

import android.app.ActivityManager;
import android.content.pm.ApplicationInfo;
import android.content.pm.PackageManager;
import java.io.File;

/** The testbed's, and what the level's ProfilingManager asks for. */
public abstract class Context {
    public static final String ACTIVITY_SERVICE = "activity";
    public static final String DISPLAY_SERVICE = "display";

    public abstract Context getApplicationContext();

    public abstract ApplicationInfo getApplicationInfo();

    public abstract String getPackageName();

    public abstract PackageManager getPackageManager();

    public abstract File getNoBackupFilesDir();

    public abstract Object getSystemService(String name);

    public final <T> T getSystemService(Class<T> type) {
        return type.cast(type == ActivityManager.class ? getSystemService(ACTIVITY_SERVICE) : null);
    }

    public File getFilesDir() {
        return new File(getNoBackupFilesDir(), "files");
    }

    public Intent registerReceiver(BroadcastReceiver receiver, IntentFilter filter) {
        throw new UnsupportedOperationException();
    }

    public void unregisterReceiver(BroadcastReceiver receiver) {
        throw new UnsupportedOperationException();
    }
}
