package android.content;

import android.content.pm.ApplicationInfo;
import android.content.pm.PackageManager;
import java.io.File;

/** A Context that passes calls on to another one, once that is attached, as on a device. */
public class ContextWrapper extends Context {
    private Context base;

    public ContextWrapper(Context base) {
        this.base = base;
    }

    protected void attachBaseContext(Context base) {
        this.base = base;
    }

    @Override
    public Context getApplicationContext() {
        return base.getApplicationContext();
    }

    @Override
    public ApplicationInfo getApplicationInfo() {
        return base.getApplicationInfo();
    }

    @Override
    public String getPackageName() {
        return base.getPackageName();
    }

    @Override
    public PackageManager getPackageManager() {
        return base.getPackageManager();
    }

    @Override
    public File getNoBackupFilesDir() {
        return base.getNoBackupFilesDir();
    }

    @Override
    public Object getSystemService(String name) {
        return base.getSystemService(name);
    }
}
