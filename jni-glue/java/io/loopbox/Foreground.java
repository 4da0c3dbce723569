// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox;

import android.app.Activity;
import android.app.Application;
import android.os.Bundle;
import android.util.Log;

/** Notes in the reports whether the user sees the app, and what. On the main thread. */
final class Foreground implements Application.ActivityLifecycleCallbacks {
    /** The note about it; the app cannot write it. */
    static final String NOTE = "foreground";

    /** The process has one Application, and one of these counts however often the recorder is installed. */
    private static Foreground registered;

    /** Activities that are started: the app is in the foreground while there is one. */
    private int started;

    private boolean everStarted;

    private Foreground() {}

    static void register(Application application) {
        if (registered == null) {
            registered = new Foreground();
            application.registerActivityLifecycleCallbacks(registered);
        }
        registered.say();
    }

    private void say() {
        try {
            boolean seen = started > 0;
            Loopbox.note(NOTE, seen ? "yes" : "no");
            Config config = Recorder.config();
            if (config != null && config.pauseInBackground && everStarted) {
                Recorder.background(!seen);
            }
        } catch (Throwable fault) {
            Log.w(Loopbox.TAG, "neither paused nor resumed", fault);
        }
    }

    @Override
    public void onActivityStarted(Activity activity) {
        started++;
        everStarted = true;
        if (started == 1) {
            say();
        }
    }

    @Override
    public void onActivityStopped(Activity activity) {
        // One that was started before we were registered stops, too.
        started = Math.max(0, started - 1);
        if (started == 0) {
            say();
        }
    }

    @Override
    public void onActivityResumed(Activity activity) {
        Config config = Recorder.config();
        if (config != null && config.autoScene) {
            Loopbox.scene(activity.getClass().getName());
        }
        if (config != null && config.watchInput) {
            // Now and not when it was created: support libraries put their callback in during onCreate.
            Loopbox.watchInput(activity.getWindow());
        }
    }

    @Override
    public void onActivityCreated(Activity activity, Bundle state) {}

    @Override
    public void onActivityPaused(Activity activity) {}

    @Override
    public void onActivitySaveInstanceState(Activity activity, Bundle state) {}

    @Override
    public void onActivityDestroyed(Activity activity) {}
}
