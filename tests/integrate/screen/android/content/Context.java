package android.content;

import android.app.NotificationManager;
import android.app.Phone;
import android.content.pm.ApplicationInfo;
import android.content.res.Resources;
import java.io.File;

/** The Context of the one app on the {@link Phone}. */
public class Context {
    public ApplicationInfo getApplicationInfo() {
        return Phone.app;
    }

    public String getPackageName() {
        return "com.example.shop";
    }

    /** On a device the first call creates the folder, on the calling thread, so main may not call this. */
    public File getNoBackupFilesDir() {
        if (Phone.isMain()) {
            throw new IllegalStateException("files on the main thread");
        }
        return Phone.folder;
    }

    public Resources getResources() {
        return new Resources();
    }

    public Object getSystemService(String name) {
        return name.equals("notification") ? new NotificationManager() : null;
    }

    public void startActivity(Intent intent) {
        Phone.started.add(intent);
    }
}
