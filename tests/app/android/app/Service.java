package android.app;

import android.content.ContextWrapper;
import android.content.Intent;
import android.os.IBinder;

/** A service that ActivityThread creates and calls. */
public abstract class Service extends ContextWrapper {
    public static final int START_STICKY = 1;
    public static final int START_NOT_STICKY = 2;

    public Service() {
        super(null);
    }

    final void attach(ContextImpl context) {
        attachBaseContext(context);
    }

    public void onCreate() {}

    public int onStartCommand(Intent intent, int flags, int startId) {
        return START_STICKY;
    }

    public abstract IBinder onBind(Intent intent);
}
