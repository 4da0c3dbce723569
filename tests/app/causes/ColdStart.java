package causes;

import android.app.ActivityThread;
import android.app.Application;
import android.app.ContextImpl;
import android.content.Context;
import android.content.pm.ProviderInfo;
import android.os.Looper;
import io.loopbox.Config;
import io.loopbox.Loopbox;
import java.io.File;
import java.util.Collections;

/** An app that does too much as it starts. Argument: the folder for reports. */
public final class ColdStart extends Application {
    private static File folder;

    public static void main(String[] arguments) {
        folder = new File(arguments[0]);
        Looper.prepareMainLooper();
        ActivityThread thread = new ActivityThread(new ContextImpl(folder, "com.example.causes", "com.example.causes"));
        thread.getApplicationThread()
                .bindApplication(
                        new ActivityThread.AppBindData(ColdStart.class, Collections.<ProviderInfo>emptyList()));
        Looper.loop();
    }

    @Override
    protected void attachBaseContext(Context base) {
        super.attachBaseContext(base);
        if (!Loopbox.install(this, new Config.Builder(folder).build()).isOn()) {
            throw new IllegalStateException("not installed");
        }
    }

    @Override
    public void onCreate() {
        Causes.reportAfter(Causes.HANG_MS);
        Components.warmUp();
    }

    /** All components that the app may ever need, created at once. */
    static final class Components {
        static void warmUp() {
            while (true) {
                Causes.Work.busy(50);
            }
        }
    }
}
