package android.app;

import android.content.Context;
import android.content.ContextWrapper;
import android.os.Build;
import android.os.Bundle;
import java.util.ArrayList;
import java.util.List;

/**
 * Simulates a device's Application: runs the callbacks of its Activities' life cycles when the scripted app
 * says so.
 */
public class Application extends ContextWrapper {
    /** The platform's type, as far as a testbed needs it. */
    public interface ActivityLifecycleCallbacks {
        void onActivityCreated(Activity activity, Bundle state);

        void onActivityStarted(Activity activity);

        void onActivityResumed(Activity activity);

        void onActivityPaused(Activity activity);

        void onActivityStopped(Activity activity);

        void onActivitySaveInstanceState(Activity activity, Bundle state);

        void onActivityDestroyed(Activity activity);

        // Android 10 and newer.

        default void onActivityPreCreated(Activity activity, Bundle state) {}

        default void onActivityPreStarted(Activity activity) {}

        default void onActivityPreResumed(Activity activity) {}

        default void onActivityPrePaused(Activity activity) {}

        default void onActivityPreStopped(Activity activity) {}

        default void onActivityPreDestroyed(Activity activity) {}
    }

    private final List<ActivityLifecycleCallbacks> callbacks = new ArrayList<ActivityLifecycleCallbacks>();

    public Application() {
        super(null);
    }

    public void onCreate() {}

    public void registerActivityLifecycleCallbacks(ActivityLifecycleCallbacks callback) {
        callbacks.add(callback);
    }

    /** The system gives a new Application its Context before anything else. */
    public final void attach(Context base) {
        attachBaseContext(base);
    }

    /** An Activity comes to the front, unless it finishes in its onCreate. */
    public final void show(Activity activity) {
        boolean pre = Build.VERSION.SDK_INT >= 29;
        for (ActivityLifecycleCallbacks callback : callbacks) {
            if (pre) {
                callback.onActivityPreCreated(activity, null);
            }
        }
        activity.onCreate(null);
        for (ActivityLifecycleCallbacks callback : callbacks) {
            callback.onActivityCreated(activity, null);
            if (activity.isFinishing()) {
                callback.onActivityDestroyed(activity);
                continue;
            }
            if (pre) {
                callback.onActivityPreStarted(activity);
            }
            callback.onActivityStarted(activity);
            if (pre) {
                callback.onActivityPreResumed(activity);
            }
            callback.onActivityResumed(activity);
        }
    }

    /**
     * {@code next} comes in front of {@code activity}, which then leaves the screen. The callbacks are in the
     * order of a device.
     */
    public final void replace(Activity activity, Activity next) {
        for (ActivityLifecycleCallbacks callback : callbacks) {
            callback.onActivityPaused(activity);
        }
        show(next);
        for (ActivityLifecycleCallbacks callback : callbacks) {
            callback.onActivityStopped(activity);
        }
    }

    /** The Activity in front is made anew, in one message, as when the screen turns. */
    public final void relaunch(Activity activity, Activity next) {
        activity.changingConfigurations = true;
        hide(activity);
        for (ActivityLifecycleCallbacks callback : callbacks) {
            callback.onActivityDestroyed(activity);
        }
        show(next);
    }

    /** An Activity leaves the screen. */
    public final void hide(Activity activity) {
        for (ActivityLifecycleCallbacks callback : callbacks) {
            callback.onActivityPaused(activity);
            callback.onActivityStopped(activity);
        }
    }
}
