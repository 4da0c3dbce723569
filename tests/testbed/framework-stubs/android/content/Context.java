package android.content;

import android.content.pm.ApplicationInfo;
import android.content.pm.PackageManager;
import java.io.File;

/** As much of a Context as the recorder asks for; the scripted app fills it. */
public abstract class Context {
    public static final String ACTIVITY_SERVICE = "activity";
    public static final String DISPLAY_SERVICE = "display";

    public abstract Context getApplicationContext();

    public abstract ApplicationInfo getApplicationInfo();

    public abstract String getPackageName();

    public abstract PackageManager getPackageManager();

    public abstract File getNoBackupFilesDir();

    public abstract Object getSystemService(String name);

    public Intent registerReceiver(BroadcastReceiver receiver, IntentFilter filter) {
        throw new UnsupportedOperationException();
    }

    public void unregisterReceiver(BroadcastReceiver receiver) {
        throw new UnsupportedOperationException();
    }
}
