// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal;

import android.content.Context;
import android.system.ErrnoException;
import android.system.Os;
import io.loopbox.internal.platform.App;
import io.loopbox.internal.platform.ContextFramework;
import io.loopbox.internal.platform.Framework;
import io.loopbox.internal.platform.RecorderLog;
import io.loopbox.internal.platform.UserUnlock;
import io.loopbox.internal.recording.InstallTrace;
import io.loopbox.internal.recording.Recording;
import io.loopbox.internal.recording.Settings;
import java.io.File;

/**
 * Starts a recording: checks whether this process may record, and determines the parameters. On the main
 * thread, except where noted.
 */
public final class Installation {
    /**
     * Where reports go; null until something is installed. A second installation does not change it. Any
     * thread.
     */
    private static volatile File directory;

    /** Whether log lines go, or once went, to the app's logger. */
    private static boolean logs;

    private Installation() {}

    /** Where reports go, whether or not anything is recorded; null before an installation. Any thread. */
    public static File directory() {
        return directory;
    }

    /**
     * Starts recording.
     *
     * @param again runs when the user unlocks the device, if the app's files cannot be read before
     * @return null, or why nothing is recorded
     */
    public static String start(Context context, Settings settings, Runnable again) {
        InstallTrace.part("loopbox switch");
        int stops = Recorder.stops();
        logTo(settings);
        String refusal;
        try {
            refusal = refuses(context, settings);
        } catch (ErrnoException unknown) {
            refusal = "it cannot be read whether the app has switched it off: " + unknown.getMessage();
            refusal += startWhenUnlocked(context, again, stops);
        }
        // Also when nothing is recorded: what earlier launches left can be taken.
        File place = settings.directory == null ? App.directory(context) : settings.directory;
        keep(place);
        if (Recording.SWITCHED_OFF.equals(refusal)) {
            Purge.ifAsked(App.killSwitch(context), place);
        }
        if (refusal == null) {
            refusal = settings.leavesOut();
        }
        if (refusal == null) {
            InstallTrace.part("loopbox version");
            String version = settings.appVersion.isEmpty() ? App.version(context) : settings.appVersion;
            Framework framework = new ContextFramework(App.lasting(context));
            refusal = Recorder.start(settings, place, version, framework, App.killSwitch(context), stops);
        }
        if (refusal == null) {
            InstallTrace.part("loopbox foreground");
            Foreground.watch(context);
        }
        return refusal;
    }

    /**
     * Starts recording where there is no Context.
     *
     * @return null, or why nothing is recorded
     */
    public static String start(Settings settings) {
        int stops = Recorder.stops();
        logTo(settings);
        if (settings.directory == null) {
            return "the configuration names no directory";
        }
        keep(settings.directory);
        String refusal = settings.leavesOut();
        if (refusal != null) {
            return refusal;
        }
        return Recorder.start(settings, settings.directory, settings.appVersion, Framework.NONE, null, stops);
    }

    /**
     * The reason why nothing may be recorded in this process, or null.
     *
     * @throws ErrnoException when it is not known whether the app has switched the recorder off
     */
    private static String refuses(Context context, Settings settings) throws ErrnoException {
        File killSwitch = App.killSwitch(context);
        if (App.isThere(killSwitch)) {
            return Recording.SWITCHED_OFF;
        }
        // Before the user has unlocked the device, names are encrypted, too: nothing is found, nor the app's
        // own folder.
        File data = context.getNoBackupFilesDir().getAbsoluteFile().getParentFile();
        if (data != null) {
            Os.lstat(data.getPath());
        }
        String main = context.getApplicationInfo().processName;
        String own = App.processName();
        if (settings.mainProcessOnly && own != null && !own.equals(main)) {
            return "this is the process " + own + ", not " + main;
        }
        return null;
    }

    /**
     * Has {@code again} run when the user unlocks the device, unless the app stops the recorder before.
     *
     * @return a note about this for the status, or an empty text where it cannot be done
     */
    private static String startWhenUnlocked(Context context, final Runnable again, final int stops) {
        Runnable unlessStopped =
                new Runnable() {
                    @Override
                    public void run() {
                        if (Recorder.stops() == stops) {
                            again.run();
                        }
                    }
                };
        try {
            UserUnlock.await(App.lasting(context), unlessStopped);
        } catch (RuntimeException refused) {
            // An isolated process may not ask, and has no files after it either.
            RecorderLog.info("not tried again: " + refused);
            return "";
        }
        return "; it is tried again when the user unlocks the device";
    }

    /**
     * Sends log lines to the app's logger, if it gave one. Does nothing for a second installation, which is
     * refused.
     */
    private static void logTo(Settings settings) {
        // Where there is none and was none, the classes of that are not loaded.
        if ((logs || settings.logger != null) && !Recording.isOn()) {
            logs = settings.logger != null;
            RecorderLog.to(settings.logger);
        }
    }

    private static void keep(File place) {
        if (!Recording.isOn()) {
            directory = place;
        }
    }
}
