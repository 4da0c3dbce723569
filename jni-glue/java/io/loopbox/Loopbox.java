// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox;

import android.content.Context;
import android.view.Window;
import androidx.annotation.AnyThread;
import androidx.annotation.MainThread;
import androidx.annotation.NonNull;
import androidx.annotation.Nullable;
import androidx.annotation.WorkerThread;
import io.loopbox.internal.Installation;
import io.loopbox.internal.Purge;
import io.loopbox.internal.Recorder;
import io.loopbox.internal.frames.FrameWatch;
import io.loopbox.internal.frames.InputWatch;
import io.loopbox.internal.hook.MainHook;
import io.loopbox.internal.monitor.MonitorFiles;
import io.loopbox.internal.platform.App;
import io.loopbox.internal.platform.AppPolicy;
import io.loopbox.internal.platform.Faults;
import io.loopbox.internal.platform.ListenerThread;
import io.loopbox.internal.platform.MainLooper;
import io.loopbox.internal.platform.RecorderLog;
import io.loopbox.internal.recording.Annotations;
import io.loopbox.internal.recording.Breadcrumbs;
import io.loopbox.internal.recording.DumpSink;
import io.loopbox.internal.recording.InstallTrace;
import io.loopbox.internal.recording.Listeners;
import io.loopbox.internal.recording.Native;
import io.loopbox.internal.recording.Recording;
import io.loopbox.internal.report.AskedDumps;
import io.loopbox.internal.report.PendingReports;
import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * A flight recorder for the main thread: what it did, does and was asked to do next, in one file when the app
 * stops responding. No method throws into the app. A part that cannot work is off, and {@link #status} and
 * every report say why.
 *
 * <p>Each method may be called before {@link #install}, too. What the app sets then is kept for the recording
 * that comes: {@link #annotate}, {@link #breadcrumb}, {@link #scene}, {@link #pause}, {@link #setSampling},
 * {@link #addListener}. The other methods document what they do.
 */
public final class Loopbox {
    private static final Frames FRAMES = new Frames();

    private static final long DUMP_TIMEOUT_MS = 5_000;

    private Loopbox() {}

    /**
     * Starts recording the main thread. Call it on the main thread, as early as
     * Application.attachBaseContext. When three starts in a row have ended within five seconds, the next
     * starts do not record. Where the system knows why they ended, only crashes and ANRs count.
     *
     * @param context the Application, or any other context of the app. It lets reports show whether the app
     *     is in the foreground and which Activity is shown. When an Activity is in front already, the system
     *     is asked whether the app is in the foreground, and the Activity is unknown until the next one is
     *     resumed
     * @return what is on and what is off
     */
    @MainThread
    @NonNull
    public static Status install(@NonNull final Context context, @NonNull final Config config) {
        AppPolicy policy = AppPolicy.allowDisk();
        try {
            Runnable again =
                    new Runnable() {
                        @Override
                        public void run() {
                            install(context, config);
                        }
                    };
            return said(Installation.start(context, config.settings, again));
        } catch (Throwable fault) {
            return failed(fault);
        } finally {
            InstallTrace.end();
            AppPolicy.restore(policy);
        }
    }

    /**
     * Starts recording without a Context, for processes that have none (tests, app_process). The
     * configuration needs a directory. The end of earlier processes and whether the app is in the foreground
     * stay unknown, and starts that end within seconds are not counted.
     *
     * @return what is on and what is off
     */
    @MainThread
    @NonNull
    public static Status install(@NonNull Config config) {
        AppPolicy policy = AppPolicy.allowDisk();
        try {
            return said(Installation.start(config.settings));
        } catch (Throwable fault) {
            return failed(fault);
        } finally {
            InstallTrace.end();
            AppPolicy.restore(policy);
        }
    }

    private static Status said(String refusal) {
        if (refusal == null) {
            return status();
        }
        RecorderLog.warn("not installed: " + refusal);
        Recording.setOffBecause(refusal);
        return Status.off(refusal);
    }

    private static Status failed(Throwable fault) {
        try {
            Recording.setOffBecause(Faults.text(fault));
            RecorderLog.warn("not installed", fault);
        } catch (Throwable worse) {
            Faults.log(worse);
        }
        return Status.offBy(fault);
    }

    /**
     * Adds a listener besides those of {@link Config.Builder#listener}. It stays until {@link
     * #removeListener}, across installations. This is for a library, which does not make the configuration.
     * It may be called before {@link #install} or after it; adding a listener a second time changes nothing.
     * The listener has to leave the file where it is, or {@link Report#claim claim} it. The listeners of the
     * configuration may take the file away. So they are called last: when all added ones have returned, or
     * after two seconds. Any thread.
     */
    @AnyThread
    public static void addListener(@NonNull Listener listener) {
        try {
            Listeners.add(new ListenerSink(listener));
        } catch (Throwable fault) {
            Faults.log(fault);
        }
    }

    /**
     * Removes a listener that {@link #addListener} has added. The listener is not called any more; a call
     * that is in progress may continue. This method may be called before {@link #install} or after it. Any
     * thread.
     */
    @AnyThread
    public static void removeListener(@NonNull Listener listener) {
        try {
            Listeners.remove(new ListenerSink(listener));
        } catch (Throwable fault) {
            Faults.log(fault);
        }
    }

    /**
     * What is on and what is off, now. Before {@link #install} it says that the recorder is off. Any thread.
     */
    @AnyThread
    @NonNull
    public static Status status() {
        try {
            if (!Recording.isOn()) {
                return Status.off(Recording.offBecause());
            }
            MainHook.check(false);
            return Status.on(Recorder.addTo(Native.features()));
        } catch (Throwable fault) {
            return Status.offBy(fault);
        }
    }

    /**
     * Writes a report now and waits for it, at most 5 seconds. On the main thread it does not wait: there it
     * does what {@link #dumpAsync} does without a callback, and returns null at once. It also returns null at
     * once, without a report, in three cases: when a listener calls it; when 64 reports were requested in a
     * short time, after which only ten a minute are granted; and while nothing records, as before {@link
     * #install}.
     *
     * @param reason goes into the report
     * @return the file, or null when none was written, or not yet
     */
    @WorkerThread
    @Nullable
    public static File dump(@Nullable String reason) {
        try {
            if (MainLooper.isCurrent()) {
                dumpAsync(reason, null);
                return null;
            }
            String path = Native.dump(text(reason), DUMP_TIMEOUT_MS, ListenerThread.isCurrent());
            return path == null ? null : new File(path);
        } catch (Throwable fault) {
            Faults.log(fault);
            return null;
        }
    }

    /**
     * Writes a report in the background and returns at once. The report shows what the main thread does some
     * hundred microseconds later. While another report is being written, this one has to wait for it, and
     * shows the moment after that. {@link Listener} is called with it first; {@code done} is called when the
     * listeners have returned, or after two seconds. Any thread. When more than 16 requests wait, the oldest
     * ones are given up. Requests beyond the limits of {@link #dump} are refused. While nothing records, as
     * before {@link #install}, {@code done} is called with null.
     *
     * @param reason goes into the report
     * @param done what is called when the report is complete or there is none; null for nothing
     */
    @AnyThread
    public static void dumpAsync(@Nullable String reason, @Nullable DumpCallback done) {
        try {
            AskedDumps.ask(text(reason), done == null ? null : sink(done));
        } catch (Throwable fault) {
            Faults.log(fault);
        }
    }

    private static DumpSink sink(final DumpCallback done) {
        return new DumpSink() {
            @Override
            public void onDumped(File file) {
                done.onDumped(file == null ? null : new Report(file));
            }
        };
    }

    private static String text(String reason) {
        return reason == null ? "" : reason;
    }

    /**
     * The reports of this process and of earlier ones that no other process has taken, oldest first. Nothing
     * is taken: call {@link Report#claim} for that. This method waits until the rings of earlier processes
     * were read, which takes some milliseconds after {@link #install}, 5 seconds at most; on the main thread
     * it does not wait. There are none before the first {@link #install}, which sets the directory.
     *
     * <p>A report to which its living process may still add something, because the hang goes on or the system
     * has not answered yet, is not in the list: it is there later, or at the next launch.
     */
    @WorkerThread
    @NonNull
    public static List<Report> pendingReports() {
        AppPolicy policy = AppPolicy.allowDisk();
        try {
            File place = Installation.directory();
            if (place == null) {
                return new ArrayList<Report>();
            }
            Recorder.awaitPreviousRuns();
            return of(PendingReports.list(place, owner()));
        } catch (Throwable fault) {
            Faults.log(fault);
            // There may be no memory for a new list.
            return Collections.emptyList();
        } finally {
            AppPolicy.restore(policy);
        }
    }

    /**
     * {@link Report#claim Claims} all of {@link #pendingReports}: for uploading at the next launch, in an app
     * that sends all reports, on a thread that may read files. They belong to the calling process now: delete
     * each file when it is sent. One that is not deleted is handed out again to the same process, until 20
     * newer ones are there or two weeks have passed.
     */
    @WorkerThread
    @NonNull
    public static List<Report> takePendingReports() {
        AppPolicy policy = AppPolicy.allowDisk();
        try {
            File place = Installation.directory();
            if (place == null) {
                return new ArrayList<Report>();
            }
            Recorder.awaitPreviousRuns();
            return of(PendingReports.take(place, owner(), Recording.framework(), Recording.keepsTraces()));
        } catch (Throwable fault) {
            Faults.log(fault);
            // There may be no memory for a new list.
            return Collections.emptyList();
        } finally {
            AppPolicy.restore(policy);
        }
    }

    private static List<Report> of(List<File> files) {
        List<Report> reports = new ArrayList<Report>();
        for (File file : files) {
            reports.add(new Report(file));
        }
        return reports;
    }

    /** The name of this process, which owns the reports that it takes. */
    private static String owner() {
        String process = App.processName();
        return process == null ? "unknown" : process;
    }

    /** Does what {@link Report#claim} does. Returns where the file is now, or null. */
    static File claim(File report) {
        File place = Installation.directory();
        if (place == null) {
            return null;
        }
        AppPolicy policy = AppPolicy.allowDisk();
        try {
            return PendingReports.claim(report, place, owner(), Recording.framework(), Recording.keepsTraces());
        } finally {
            AppPolicy.restore(policy);
        }
    }

    /**
     * Adds a value that describes the app to each report from now on: at most 16 names of up to 40
     * characters, with values of up to 200. "user" (a pseudonym, not an account) is the one by which reports
     * are counted per user. It has a separate place besides the 16, and so has "scene". A value that is set
     * before {@link #install} is kept for the next recording. That recording has it from its start, in
     * addition to the values of the configuration; the Redactor sees the value at that start. Any thread.
     *
     * @param value null removes the name
     * @return whether the value is kept. It is not kept when the Redactor removes it. It is not kept under
     *     the names "foreground" and "system_start", which the recorder itself uses. Nor is it kept when
     *     there are 16 other names: {@link #status} and the log report that
     */
    @AnyThread
    public static boolean annotate(@NonNull String name, @Nullable String value) {
        try {
            return Annotations.set(name, value);
        } catch (Throwable fault) {
            Faults.log(fault);
            return false;
        }
    }

    /**
     * Sets the screen or step that the app is in. If this is called before {@link #install}, the recording
     * begins with this scene. Any thread.
     */
    @AnyThread
    public static void scene(@Nullable final String name) {
        try {
            annotate("scene", name);
            if (FrameWatch.isOn()) {
                onMain(
                        new Runnable() {
                            @Override
                            public void run() {
                                FrameWatch.scene(name);
                            }
                        });
            }
        } catch (Throwable fault) {
            Faults.log(fault);
        }
    }

    /**
     * Marks what the app does at this moment: a tap, a screen, a request. Reports have the newest 64 marks
     * with their times, on the same time line as the main thread's work. For a state that lasts use {@link
     * #scene} or {@link #annotate}. A mark from before {@link #install} is kept for the recording that comes.
     * Any thread.
     *
     * @param name at most 40 characters are kept, in one line; null and an empty one leave nothing. The
     *     {@link Redactor} sees it first, under the name "breadcrumb"
     */
    @AnyThread
    public static void breadcrumb(@Nullable String name) {
        try {
            Breadcrumbs.leave(name);
        } catch (Throwable fault) {
            Faults.log(fault);
        }
    }

    /**
     * The app's access to the recording of display frames. Its methods do nothing before {@link #install},
     * and where {@link Config.Builder#frames} is not given. Any thread.
     */
    @AnyThread
    @NonNull
    public static Frames frames() {
        return FRAMES;
    }

    /**
     * Stops recording until {@link #resume}, at once: a running message is not sampled any more, and does not
     * count as a hang. The hook is removed when the main thread next runs. What was recorded stays, and is in
     * the reports of SIGQUIT and {@link #dump}. Before {@link #install} it makes the recording begin paused.
     * Any thread.
     */
    @AnyThread
    public static void pause() {
        pause(true);
    }

    /** Goes on after {@link #pause}. Any thread; takes effect on the main thread. */
    @AnyThread
    public static void resume() {
        pause(false);
    }

    private static void pause(boolean pause) {
        try {
            Recorder.pause(pause);
        } catch (Throwable fault) {
            Faults.log(fault);
        }
    }

    /** Runs this on the main thread, now or in a message. Does not throw, and neither does the message. */
    static void onMain(final Runnable what) {
        try {
            MainLooper.run(
                    new Runnable() {
                        @Override
                        public void run() {
                            try {
                                what.run();
                            } catch (Throwable fault) {
                                Faults.log(fault);
                            }
                        }
                    });
        } catch (Throwable fault) {
            Faults.log(fault);
        }
    }

    /**
     * Switches the stack sampler off or on. Without it the rest of the recorder goes on, but long messages
     * have no stacks, and locks and other threads are not read. A message that begins after the sampler was
     * switched off is not sampled. A recording begins with the choice that was made here before {@link
     * #install}, or else with {@link Config.Builder#sampling}. The choice is forgotten when the process ends.
     * Any thread.
     */
    @AnyThread
    public static void setSampling(boolean on) {
        try {
            Recorder.setSampling(on);
        } catch (Throwable fault) {
            Faults.log(fault);
        }
    }

    /**
     * Records touches, keys and other input of this window like messages: with history, stacks and the
     * time-out of input. The system hands most of them to the app outside of messages, where no hook of the
     * Looper sees them. The window's callback is wrapped in one that passes every call and exception on;
     * {@link #uninstall} takes it out again, unless another library has wrapped ours by then. For windows of
     * Dialogs and the like; {@link Config.Builder#watchInput} does it for Activities. Main thread.
     *
     * @param window nothing happens when it has no callback, with {@link Config.Hook#NONE}, and before {@link
     *     #install}
     */
    @MainThread
    public static void watchInput(@Nullable Window window) {
        try {
            InputWatch.record(window);
        } catch (Throwable fault) {
            Faults.log(fault);
        }
    }

    /**
     * The block monitor and the performance monitor, which find messages that take long and write a line for
     * each of them. The result does nothing until {@link Monitor#start}, which comes after {@link #install};
     * this method may be called before {@link #install}, too. {@link #uninstall} ends the monitor. Any
     * thread.
     */
    @AnyThread
    @NonNull
    public static Monitor monitor(@NonNull MonitorConfig config) {
        return new Monitor(config);
    }

    /** The folder for the files of a monitor that was given no directory; null while it is not known. */
    static File monitorDirectory() {
        File place = Installation.directory();
        return place == null ? null : new File(place, MonitorFiles.FOLDER);
    }

    /**
     * The remote kill switch. False stops recording, as {@link #uninstall} does, and prevents every later
     * launch of each process from loading the native library, until it is set to true again. The app's other
     * recording processes notice it within a second while messages run, and before they begin a report; a
     * process whose main thread rests stays as it is. True takes effect at the next launch. This may be
     * called before {@link #install}, which then refuses to record, or after it. Any thread.
     */
    @AnyThread
    public static void setEnabled(@NonNull Context context, boolean enabled) {
        AppPolicy policy = AppPolicy.allowDisk();
        try {
            App.setEnabled(context, enabled);
        } catch (Throwable fault) {
            Faults.log(fault);
        } finally {
            AppPolicy.restore(policy);
            // After the mark: an installation that has not seen it is stopped by this.
            if (!enabled) {
                stop(Recording.SWITCHED_OFF);
            }
        }
    }

    /**
     * Deletes all that was recorded of this app and switches the recorder off as {@link #setEnabled} does:
     * for a user who withdraws consent. It deletes reports (also reports that were handed out to the app),
     * the ring's file, the monitor's files, the profiles that the system took for reports, annotations and
     * what the recorder knows of earlier starts. Copies that the app has made are not touched.
     *
     * <p>Each other process of the app deletes its files when it notices the switch. While the recorder stays
     * switched off, each launch deletes as well. So a file that another process is writing now is deleted
     * later, and so are files in a folder that only that process knows.
     *
     * <p>This method may be called before {@link #install} or after it. Any thread that may wait for the
     * disk.
     *
     * @return true if nothing is left in the folders that this process knows (the default one, that of the
     *     configuration and those of its monitors), and other processes and later launches will delete, too.
     *     If false, the log has the reason: files are left, or other processes and later launches will delete
     *     nothing, or a fault ended the deletion. The next launch is sure to delete again after true, and
     *     also after false if the only reason is that files are left. It then also deletes a file that a slow
     *     disk completed late, or that another process wrote in the second before it noticed the switch
     */
    @WorkerThread
    public static boolean purge(@NonNull Context context) {
        try {
            setEnabled(context, false);
            File killSwitch = App.killSwitch(context);
            boolean none = true;
            try {
                Purge.ask(killSwitch);
            } catch (IOException full) {
                none = false;
                RecorderLog.warn("other processes and later launches will delete nothing: " + full);
            }
            return Purge.run(killSwitch, Installation.directory()) && none;
        } catch (Throwable fault) {
            Faults.log(fault);
            return false;
        }
    }

    /**
     * Stops the recording. When this method returns, nothing is recorded, written or reported any more, also
     * while the main thread hangs. No listener is called any more, but a call that has begun may still run. A
     * listener may call this method. A report that is being written is given up: what is on the disk already
     * stays there, and a caller that waits for the report gets null.
     *
     * <p>This method waits until no file is being written: at most 1 s, and at most 50 ms on the main thread.
     * A write that the disk delays for longer may end later. The hooks do nothing from now on, and are
     * removed when the main thread next runs. The handler of SIGQUIT stays, and only passes the signal on to
     * ART.
     *
     * <p>What the app has set with {@link #annotate}, {@link #breadcrumb}, {@link #pause} and {@link
     * #setSampling} is forgotten. When this method is called before {@link #install}, it forgets what the app
     * has set for the coming recording. Any thread.
     */
    @AnyThread
    public static void uninstall() {
        stop(Recording.UNINSTALLED);
    }

    private static void stop(String why) {
        try {
            Recorder.stop(why);
        } catch (Throwable fault) {
            Faults.log(fault);
        }
    }
}
