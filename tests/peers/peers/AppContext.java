package peers;

import android.app.Application;
import android.content.Context;
import android.content.SharedPreferences;
import android.content.pm.ApplicationInfo;
import android.content.pm.PackageManager;
import android.content.res.Resources;
import android.os.Looper;
import java.io.File;
import java.lang.reflect.Proxy;

/**
 * An app for SDKs that use more of Android than others. It has files, and preferences in which nothing was
 * stored. The system has no services and no packages for it. Its methods without {@code @Override} override
 * methods that API 29's Context has and the testbed's Context lacks.
 */
class AppContext extends Application {
    private final File folder;

    AppContext(File folder) {
        this.folder = folder;
    }

    @Override public Context getApplicationContext() {
        return this;
    }

    @Override public ApplicationInfo getApplicationInfo() {
        return new ApplicationInfo();
    }

    @Override public String getPackageName() {
        return "com.example.shop";
    }

    @Override public PackageManager getPackageManager() {
        return null;
    }

    @Override public Object getSystemService(String name) {
        return null;
    }

    @Override public File getNoBackupFilesDir() {
        return folder;
    }

    @Override public File getFilesDir() {
        return folder;
    }

    public File getCacheDir() {
        return folder;
    }

    public File getDir(String name, int mode) {
        File dir = new File(folder, "app_" + name);
        dir.mkdirs();
        return dir;
    }

    public Resources getResources() {
        return Resources.getSystem();
    }

    public Looper getMainLooper() {
        return Looper.getMainLooper();
    }

    public SharedPreferences getSharedPreferences(String name, int mode) {
        return (SharedPreferences) Proxy.newProxyInstance(
                AppContext.class.getClassLoader(), new Class<?>[] {SharedPreferences.class}, (proxy, method, arguments) -> {
                    if (method.getReturnType() == boolean.class && arguments.length == 1) {
                        return false;
                    }
                    return method.getName().startsWith("get") ? arguments[1] : null;
                });
    }
}
