// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal;

import android.app.Activity;
import android.app.Application;
import android.content.Context;
import android.os.Bundle;
import io.loopbox.internal.frames.FrameWatch;
import io.loopbox.internal.frames.InputWatch;
import io.loopbox.internal.hook.MainThread;
import io.loopbox.internal.platform.Background;
import io.loopbox.internal.platform.Faults;
import io.loopbox.internal.platform.Framework;
import io.loopbox.internal.platform.MainLooper;
import io.loopbox.internal.platform.RecorderLog;
import io.loopbox.internal.recording.Annotations;
import io.loopbox.internal.recording.Native;
import io.loopbox.internal.recording.Recording;
import io.loopbox.internal.recording.Settings;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Notes in the reports whether the user sees the app, and which Activity. Where the recorder was installed
 * when Activities may have existed already, a thread asks the system, and ends with the answer; until then
 * nothing is noted. On the main thread, except where noted.
 */
final class Foreground implements Application.ActivityLifecycleCallbacks {
    /** The annotation that shows whether the user sees the app; the app cannot set it. */
    private static final String NOTE = "foreground";

    private static final String SCENE = "scene";

    /**
     * The instance that is registered with the Application. There is only one, which follows the Activities
     * however often the recorder is installed.
     */
    private static Foreground registered;

    /**
     * Activities that are known to be started. A count would be wrong: an Activity that was started before we
     * were registered stops, too, and its stop would be counted for another one that is still in front.
     */
    private final Set<Activity> started =
            Collections.newSetFromMap(new IdentityHashMap<Activity, Boolean>());

    /** The Activity that is resumed, as far as known. */
    private Activity front;

    /** Whether an Activity is started: null while that is not known. Any thread. */
    private final AtomicReference<Boolean> seen = new AtomicReference<Boolean>();

    /**
     * Whether the process is starting and has had no Activity: this does not count as background yet. Any
     * thread.
     */
    private volatile boolean starts;

    private Foreground(boolean starts) {
        this.starts = starts;
    }

    /** Notes from now on whether the user sees the app and which Activity is in front. On the main thread. */
    public static void watch(final Context context) {
        // Inside of attachBaseContext the Application is not known yet, whoever the Context is.
        final boolean starts =
                context.getApplicationContext() == null
                        || MainThread.isStarting(Thread.currentThread().getStackTrace());
        if (register(context, starts, starts)) {
            return;
        }
        // Installed from attachBaseContext with the context that came in: the Application is there a message
        // later.
        MainLooper.post(
                new Runnable() {
                    @Override
                    public void run() {
                        try {
                            // The launch of an Activity may have waited before this did.
                            if (!register(context, starts, false)) {
                                RecorderLog.info("no Application: neither foreground nor scene will be known");
                            }
                        } catch (Throwable fault) {
                            Faults.log(fault);
                        }
                    }
                });
    }

    private static boolean register(Context context, boolean starts, boolean isFirst) {
        Context application = context instanceof Application ? context : context.getApplicationContext();
        if (!(application instanceof Application)) {
            return false;
        }
        register((Application) application, starts, isFirst);
        return true;
    }

    /**
     * Registers the instance if there is none, and has it note the present state. Called when a recording
     * begins.
     *
     * @param starts whether the process is starting
     * @param isFirst whether no Activity can have existed before; then the system need not be asked
     */
    private static void register(Application application, boolean starts, boolean isFirst) {
        if (registered == null) {
            registered = new Foreground(starts);
            if (isFirst) {
                registered.seen.set(false);
            }
            application.registerActivityLifecycleCallbacks(registered);
        }
        registered.begin();
    }

    private void begin() {
        try {
            if (seen.get() == null) {
                ask();
            } else {
                say();
                settle();
            }
            // Nothing calls again about the one that a recording before this one knew.
            if (front != null) {
                shows(front, Annotations.get(SCENE).isEmpty());
            }
        } catch (Throwable fault) {
            // The recorder is on, whatever is known of Activities.
            Faults.log(fault);
        }
    }

    /**
     * Starts a thread that asks the system whether the user sees the app. The main thread must not wait for
     * the answer of another process.
     */
    private void ask() {
        final Framework framework = Recording.framework();
        Background.run(
                "loopbox-foreground",
                new Runnable() {
                    @Override
                    public void run() {
                        answered(framework.isSeen());
                    }
                });
    }

    /**
     * Takes the system's answer. Called on another thread than main. The answer is dropped when main has
     * noted in the meantime whether the app is visible, because main's note is newer.
     */
    private void answered(Boolean answer) {
        if (answer == null || !seen.compareAndSet(null, answer)) {
            return;
        }
        say();
        MainLooper.run(
                new Runnable() {
                    @Override
                    public void run() {
                        settle();
                    }
                });
    }

    private boolean isBackground() {
        return Boolean.FALSE.equals(seen.get()) && !starts;
    }

    /**
     * Notes the state. Any thread. When the state changes meanwhile, notes it again, so that no older state
     * stays.
     */
    private void say() {
        Boolean said;
        do {
            said = seen.get();
            Annotations.note(NOTE, said ? "yes" : "no");
            if (Recording.isOn()) {
                Native.setBackground(isBackground());
            }
        } while (said != seen.get());
    }

    private void settle() {
        try {
            Settings settings = Recording.settings();
            if (settings != null && settings.pauseInBackground && seen.get() != null) {
                Recorder.background(isBackground());
            }
        } catch (Throwable fault) {
            Faults.log(fault);
        }
    }

    /**
     * Notifies the native side that the running message calls a life-cycle method of this Activity. The poll
     * hook names the message by it.
     */
    private static void called(Activity activity, int step) {
        try {
            Settings settings = Recording.settings();
            if (settings != null && settings.poll) {
                Native.inActivity(activity.getClass().getName(), step);
            }
        } catch (Throwable fault) {
            Faults.log(fault);
        }
    }

    /**
     * Notes that an Activity is started. Also called for one that is resumed or paused, to find those that
     * existed before this object was registered.
     */
    private void isStarted(Activity activity) {
        starts = false;
        started.add(activity);
        becomes(true);
    }

    /**
     * Notes that an Activity is stopped. An Activity may stop because the system makes it anew, as when the
     * screen turns. Then its next instance starts in the same message, and the user sees the app all the
     * time. So the state is checked only in a later message. Until then the app counts as seen, also while
     * the start of the next instance hangs.
     */
    private void isStopped(Activity activity) {
        started.remove(activity);
        if (!activity.isChangingConfigurations()) {
            isLeft();
            return;
        }
        MainLooper.post(
                new Runnable() {
                    @Override
                    public void run() {
                        isLeft();
                    }
                });
    }

    private void isLeft() {
        if (started.isEmpty()) {
            becomes(false);
        }
    }

    private void becomes(Boolean isSeen) {
        try {
            if (!isSeen.equals(seen.getAndSet(isSeen))) {
                say();
                settle();
            }
        } catch (Throwable fault) {
            Faults.log(fault);
        }
    }

    @Override
    public void onActivityStarted(Activity activity) {
        called(activity, Native.START);
        isStarted(activity);
    }

    @Override
    public void onActivityStopped(Activity activity) {
        called(activity, Native.STOP);
        isStopped(activity);
    }

    @Override
    public void onActivityResumed(Activity activity) {
        called(activity, Native.RESUME);
        isStarted(activity);
        front = activity;
        shows(activity, true);
    }

    private static void shows(Activity activity, boolean names) {
        Settings settings = Recording.settings();
        if (settings == null) {
            return;
        }
        String scene = names && settings.autoScene ? activity.getClass().getName() : null;
        if (scene != null) {
            Annotations.note(SCENE, scene);
        }
        if (settings.frames != null) {
            try {
                if (scene != null) {
                    FrameWatch.scene(scene);
                }
                FrameWatch.watch(activity.getWindow());
            } catch (Throwable fault) {
                Faults.log(fault);
            }
        }
        if (settings.watchInput) {
            // Now and not when it was created: support libraries put their callback in during onCreate.
            try {
                InputWatch.record(activity.getWindow());
            } catch (Throwable fault) {
                Faults.log(fault);
            }
        }
    }

    @Override
    public void onActivityCreated(Activity activity, Bundle state) {
        called(activity, Native.CREATE);
    }

    @Override
    public void onActivityPaused(Activity activity) {
        called(activity, Native.PAUSE);
        isStarted(activity);
        if (front == activity) {
            front = null;
        }
    }

    @Override
    public void onActivitySaveInstanceState(Activity activity, Bundle state) {}

    @Override
    public void onActivityDestroyed(Activity activity) {
        called(activity, Native.DESTROY);
        if (started.contains(activity)) {
            isStopped(activity);
        }
    }

    // Android 10 and newer call these first, before any code of the Activity's: a step that hangs there has
    // its name. No @Override: the interface of older levels has none of them.

    public void onActivityPreCreated(Activity activity, Bundle state) {
        called(activity, Native.CREATE);
    }

    public void onActivityPreStarted(Activity activity) {
        called(activity, Native.START);
    }

    public void onActivityPreResumed(Activity activity) {
        called(activity, Native.RESUME);
    }

    public void onActivityPrePaused(Activity activity) {
        called(activity, Native.PAUSE);
    }

    public void onActivityPreStopped(Activity activity) {
        called(activity, Native.STOP);
    }

    public void onActivityPreDestroyed(Activity activity) {
        called(activity, Native.DESTROY);
    }
}
