package android.content;

import android.content.pm.ApplicationInfo;
import android.content.pm.PackageManager;
import java.io.File;

/** The part of a Context that the recorder uses. The scripted app implements it. */
public abstract class Context {
    public static final String ACTIVITY_SERVICE = "activity";
    public static final String DISPLAY_SERVICE = "display";

    public abstract Context getApplicationContext();

    public abstract ApplicationInfo getApplicationInfo();

    public abstract String getPackageName();

    public abstract PackageManager getPackageManager();

    public abstract File getNoBackupFilesDir();

    public abstract Object getSystemService(String name);

    /** The name of the service that has the class {@code type}. The classes of newer levels call this. */
    public String getSystemServiceName(Class<?> type) {
        return "android.app.ActivityManager".equals(type.getName()) ? ACTIVITY_SERVICE : null;
    }

    public final <T> T getSystemService(Class<T> type) {
        String name = getSystemServiceName(type);
        return name == null ? null : type.cast(getSystemService(name));
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
