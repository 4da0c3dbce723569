// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal;

import android.app.Activity;
import android.app.Application;
import android.os.Bundle;

/** Notes in the reports whether the user sees the app, and what. On the main thread. */
public final class Foreground implements Application.ActivityLifecycleCallbacks {
    /** The note about it; the app cannot write it. */
    private static final String NOTE = "foreground";

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

    /** What runs is a message of an Activity's life cycle. */
    private static void called() {
        try {
            Settings settings = Recorder.settings();
            if (settings != null && settings.poll) {
                Native.inActivity();
            }
        } catch (Throwable fault) {
            Faults.log(fault);
        }
    }

    private void say() {
        try {
            boolean seen = started > 0;
            Annotations.note(NOTE, seen ? "yes" : "no");
            Settings settings = Recorder.settings();
            if (settings != null && settings.pauseInBackground && everStarted) {
                Recorder.background(!seen);
            }
        } catch (Throwable fault) {
            Faults.log(fault);
        }
    }

    @Override
    public void onActivityStarted(Activity activity) {
        called();
        started++;
        everStarted = true;
        if (started == 1) {
            say();
        }
    }

    @Override
    public void onActivityStopped(Activity activity) {
        called();
        // One that was started before we were registered stops, too.
        started = Math.max(0, started - 1);
        if (started == 0) {
            say();
        }
    }

    @Override
    public void onActivityResumed(Activity activity) {
        called();
        Settings settings = Recorder.settings();
        if (settings != null && settings.autoScene) {
            Annotations.note("scene", activity.getClass().getName());
        }
        if (settings != null && settings.frames != null) {
            try {
                if (settings.autoScene) {
                    FrameWatch.scene(activity.getClass().getName());
                }
                FrameWatch.watch(activity.getWindow());
            } catch (Throwable fault) {
                Faults.log(fault);
            }
        }
        if (settings != null && settings.watchInput) {
            // Now and not when it was created: support libraries put their callback in during onCreate.
            try {
                Recorder.watchInput(activity.getWindow());
            } catch (Throwable fault) {
                Faults.log(fault);
            }
        }
    }

    @Override
    public void onActivityCreated(Activity activity, Bundle state) {
        called();
    }

    @Override
    public void onActivityPaused(Activity activity) {
        called();
    }

    @Override
    public void onActivitySaveInstanceState(Activity activity, Bundle state) {}

    @Override
    public void onActivityDestroyed(Activity activity) {
        called();
    }
}
