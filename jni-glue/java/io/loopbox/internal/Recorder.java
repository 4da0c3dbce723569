// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal;

import android.os.Build;
import android.os.SystemClock;
import io.loopbox.internal.frames.FrameWatch;
import io.loopbox.internal.frames.InputWatch;
import io.loopbox.internal.hook.Hook;
import io.loopbox.internal.hook.InstallMessage;
import io.loopbox.internal.hook.MainHook;
import io.loopbox.internal.hook.ObserverHook;
import io.loopbox.internal.monitor.MonitorThread;
import io.loopbox.internal.monitor.MonitorUpload;
import io.loopbox.internal.platform.App;
import io.loopbox.internal.platform.Background;
import io.loopbox.internal.platform.Faults;
import io.loopbox.internal.platform.Framework;
import io.loopbox.internal.platform.MainLooper;
import io.loopbox.internal.recording.Annotations;
import io.loopbox.internal.recording.Breadcrumbs;
import io.loopbox.internal.recording.Gate;
import io.loopbox.internal.recording.InstallTrace;
import io.loopbox.internal.recording.Listeners;
import io.loopbox.internal.recording.Native;
import io.loopbox.internal.recording.Recording;
import io.loopbox.internal.recording.Settings;
import io.loopbox.internal.report.AnrWarnings;
import io.loopbox.internal.report.PendingQueue;
import io.loopbox.internal.report.SystemProfiles;
import java.io.File;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** The recording in progress. For the main thread, except where noted. */
public final class Recorder {
    /** Closed until the files of earlier processes have been read. */
    private static volatile CountDownLatch previousRuns = new CountDownLatch(0);
    private static volatile CountDownLatch starting = new CountDownLatch(0);

    private static final long PREVIOUS_RUNS_MS = 5_000;

    /**
     * A thread holds this lock while it begins or ends a recording. It holds the lock longest in {@link
     * Native#install}. While it holds the lock, it runs no code of the app and does not wait for the disk.
     */
    private static final Object CHANGING = new Object();

    private static final String STOPPED = "stopped by the app meanwhile";

    /**
     * The thread that stops the recording after another process has switched the recorder off. Only used by
     * the worker.
     */
    private static Thread switchingOff;

    private static volatile boolean isLoaded;

    /** How often the app has stopped recording. Guarded by {@link #CHANGING}. */
    private static int stops;

    /**
     * In all, the thread that stops the recording waits at most this long for the recorder's threads to
     * finish the steps that they are in. The disk may delay such a step.
     */
    private static final long END_MS = 1_000;
    private static final long END_ON_MAIN_MS = 50;

    /** Whether a recording has ended, and {@link #leave} has still to run on the main thread. */
    private static volatile boolean leaves;

    /** Whether the app has paused the recording, possibly before it began. Set on any thread. */
    private static volatile boolean pausedByApp;

    private static boolean pausedInBackground;

    /** Whether the app has switched the sampler on or off; null while its settings decide. */
    private static volatile Boolean samplingChosen;

    private Recorder() {}

    /**
     * How often the app has stopped recording. Read it before anything else that {@link #start} needs. Any
     * thread.
     */
    public static int stops() {
        synchronized (CHANGING) {
            return stops;
        }
    }

    /**
     * Starts the recording.
     *
     * @param killSwitch {@link App#killSwitch}; null without a Context
     * @param stopsBefore what {@link #stops} returned earlier: nothing starts when the app has stopped the
     *     recorder since then
     * @return null, or why it could not start
     */
    public static String start(
            Settings wanted,
            File directory,
            String appVersion,
            Framework asked,
            File killSwitch,
            int stopsBefore) {
        if (!MainLooper.isCurrent()) {
            return "install must be called on the main thread";
        }
        if (Recording.isOn()) {
            return "already installed";
        }
        leave();
        Faults.load();
        InstallTrace.part("loopbox start guard");
        // A process without a Context is no app that is started again and again.
        String process = asked == Framework.NONE ? null : App.processName();
        StartGuard guard = process == null ? null : new StartGuard(directory, process, appVersion);
        String refusal = guard == null ? null : guard.begin(asked);
        if (refusal != null) {
            return refusal;
        }
        String mark = guard == null ? "" : guard.path();
        refusal = "the native part failed";
        try {
            InstallTrace.part("loopbox library");
            System.loadLibrary("loopbox");
            isLoaded = true;
            InstallTrace.part("loopbox native part");
            String[] strings = wanted.strings(directory, appVersion, mark, killSwitch == null ? "" : killSwitch.getPath());
            long[] numbers = wanted.numbers(Build.VERSION.SDK_INT);
            synchronized (CHANGING) {
                if (stops != stopsBefore) {
                    refusal = STOPPED;
                } else {
                    // Before there is a worker: it may have an earlier launch's report for the listener at
                    // once.
                    previousRuns = new CountDownLatch(1);
                    starting = new CountDownLatch(1);
                    Recording.begin(wanted, asked, new Recording.Place(directory, appVersion, killSwitch));
                    Annotations.begin(Arrays.asList(strings).subList(Settings.ANNOTATIONS_AT, strings.length));
                    try {
                        Listeners.begin(wanted.listeners);
                        refusal = Native.install(numbers, strings);
                    } finally {
                        if (refusal != null) {
                            Recording.end();
                            Listeners.end();
                        }
                    }
                }
            }
        } finally {
            starting.countDown();
            if (refusal != null) {
                previousRunsRead();
                if (guard != null) {
                    guard.end();
                }
            }
        }
        if (refusal != null) {
            return refusal;
        }
        InstallTrace.part("loopbox hook");
        passOn(wanted);
        // The app may have chosen it already.
        boolean paused = pausedByApp;
        if (!paused && wanted.isHooked()) {
            InstallMessage.adopt();
        }
        if (!paused && !MainHook.putIn(wanted)) {
            String refused = "the Observer hook is refused: " + ObserverHook.refusal();
            stop(refused);
            return refused;
        }
        PendingQueue.begin(wanted);
        if (wanted.frames != null) {
            FrameWatch.start(wanted.frames);
        }
        if (paused) {
            settle();
        }
        if (Recording.settings() != wanted) {
            // On another thread, just now.
            leaves = true;
            leave();
            return STOPPED;
        }
        return null;
    }

    /** Gives the new recording what the app has set before the recording began. */
    private static void passOn(Settings wanted) {
        Annotations.giveEarly();
        Breadcrumbs.giveEarly();
        ArrayDeque<Breadcrumbs.Early> rest = null;
        synchronized (CHANGING) {
            // Unless it has just ended.
            if (Recording.settings() == wanted) {
                Annotations.pass();
                rest = Breadcrumbs.pass();
            }
        }
        Annotations.giveRest();
        Breadcrumbs.give(rest);
        Boolean sampling = samplingChosen;
        if (sampling != null) {
            Native.setSampling(sampling);
        }
    }

    /**
     * Lets the threads in {@link #awaitPreviousRuns} go on: what earlier processes left has been read, or
     * will not be. Any thread.
     */
    static void previousRunsRead() {
        previousRuns.countDown();
    }

    /**
     * Asks the system how this process was started, and requests the system's profiles and warnings of ANRs,
     * all for reports. Does so on a separate thread, because that has to wait for the system.
     */
    static void noteStart() {
        try {
            Listeners.beginThreads();
            Listeners.answer(
                    new Runnable() {
                        @Override
                        public void run() {
                            try {
                                askAboutStart();
                            } catch (InterruptedException ended) {
                                Thread.currentThread().interrupt();
                            } finally {
                                previousRunsRead();
                            }
                        }
                    });
        } catch (Throwable noMemory) {
            previousRunsRead();
            Faults.log(noMemory);
        }
    }

    private static void askAboutStart() throws InterruptedException {
        // The worker may come here before the recorder that takes the words is there.
        starting.await(PREVIOUS_RUNS_MS, TimeUnit.MILLISECONDS);
        Settings wanted = Recording.settings();
        Framework framework = Recording.framework();
        if (wanted != null && SystemProfiles.wanted(wanted) != 0) {
            SystemProfiles.start(Recording.place().directory, wanted, framework);
        }
        if (wanted != null && wanted.anrWarnings) {
            AnrWarnings.start(framework);
        }
        String started = framework.started();
        if (started != null) {
            Native.annotate("system_start", started);
        }
    }

    /** Waits for {@link #previousRunsRead}, some seconds at most; not on the main thread. */
    public static void awaitPreviousRuns() throws InterruptedException {
        // Asked first: an app's unit test has no main thread, and nothing reads previous runs.
        if (previousRuns.getCount() > 0 && !MainLooper.isCurrent()) {
            previousRuns.await(PREVIOUS_RUNS_MS, TimeUnit.MILLISECONDS);
        }
    }

    /**
     * Ends the recording: when this returns nothing is recorded, written or reported any more. A thread of
     * the recorder that the disk delays in the middle of a step may end only after this has returned. What
     * only the main thread can undo is undone when it next runs, and has no effect until then. Any thread.
     *
     * @param why for the status
     */
    public static void stop(String why) {
        Gate ended;
        boolean ends;
        synchronized (CHANGING) {
            stops++;
            ended = Recording.gate();
            ends = Recording.isOn();
            // Where nothing was recorded, the reason is an earlier one, unless no launch records from now on.
            if (ends || Recording.SWITCHED_OFF.equals(why)) {
                Recording.setOffBecause(why);
            }
            if (ends) {
                end();
            }
            // What was said and chosen goes with the recording, or the one that the app does not want.
            Annotations.end();
            Breadcrumbs.end();
            pausedByApp = false;
            samplingChosen = null;
        }
        if (isLoaded) {
            // Also for who stops what another thread is just stopping.
            long mostMs = MainLooper.isCurrent() ? END_ON_MAIN_MS : END_MS;
            long beganMs = SystemClock.uptimeMillis();
            Native.awaitEnd(mostMs);
            ended.awaitLeft(Math.max(0, mostMs - (SystemClock.uptimeMillis() - beganMs)));
        }
        if (ends) {
            MainLooper.run(
                    new Runnable() {
                        @Override
                        public void run() {
                            leave();
                        }
                    });
        }
    }

    /**
     * Stops the recording on another thread, because another process of the app has switched the recorder
     * off. Called on the native worker. It cannot stop the recording itself, because the end of the recording
     * waits for it.
     */
    static void switchedOff() {
        if (switchingOff == null || !switchingOff.isAlive()) {
            switchingOff =
                    Background.run(
                            "loopbox-off",
                            new Runnable() {
                                @Override
                                public void run() {
                                    Recording.Place ended = Recording.place();
                                    Recorder.stop(Recording.SWITCHED_OFF);
                                    Purge.ifAsked(ended.killSwitch, ended.directory);
                                }
                            });
        }
    }

    /** Ends everything that can end without waiting. Called with {@link #CHANGING} held. */
    private static void end() {
        Settings ended = Recording.settings();
        Framework framework = Recording.framework();
        Recording.end();
        leaves = true;
        Native.uninstall();
        Listeners.end();
        MonitorThread.end();
        MonitorUpload.stopAll();
        FrameWatch.silence();
        previousRunsRead();
        try {
            if (SystemProfiles.wanted(ended) != 0) {
                SystemProfiles.stop(framework);
            }
            if (ended.anrWarnings) {
                AnrWarnings.stop(framework, Recording.gate());
            }
        } catch (Throwable fault) {
            Faults.log(fault);
        }
    }

    /**
     * Undoes what only the main thread can undo: the hooks, and what the main thread registered for the
     * native side.
     */
    private static void leave() {
        if (!leaves) {
            return;
        }
        leaves = false;
        try {
            MainHook.takeOut();
            // One that is installed anew begins with its first pause.
            MainHook.forget();
            InstallMessage.end();
            PendingQueue.end();
            FrameWatch.stop();
            InputWatch.takeOut();
            pausedInBackground = false;
        } catch (Throwable fault) {
            Faults.log(fault);
        }
        Native.leave();
    }

    /**
     * Pauses or resumes the recording, by the app's choice. The choice also applies to installations that
     * come later. Any thread. From a pause on, the message that runs is not sampled any more and does not
     * count as a hang; the hook is removed when the main thread next runs.
     */
    public static void pause(boolean pause) {
        pausedByApp = pause;
        if (!Recording.isOn()) {
            // Who installs it sees the choice.
            return;
        }
        if (pause) {
            Native.setPaused(true);
        }
        MainLooper.run(
                new Runnable() {
                    @Override
                    public void run() {
                        try {
                            settle();
                        } catch (Throwable fault) {
                            Faults.log(fault);
                        }
                    }
                });
    }

    /**
     * Switches the sampling of stacks on or off, by the app's choice. Before an installation, the choice is
     * kept for it. Any thread.
     */
    public static void setSampling(boolean on) {
        samplingChosen = on;
        if (Recording.isOn()) {
            Native.setSampling(on);
        }
    }

    /**
     * Pauses or resumes when the app goes to the background or the foreground, if the app wants to record
     * only in the foreground.
     */
    static void background(boolean background) {
        pausedInBackground = background && Recording.isOn();
        settle();
    }

    /** Installs or removes the hook, depending on the reasons to pause. */
    private static void settle() {
        Settings wanted = Recording.settings();
        if (wanted == null) {
            return;
        }
        boolean pause = pausedByApp || pausedInBackground;
        Native.setPaused(pause);
        FrameWatch.setPaused(pause);
        if (pause) {
            if (MainHook.isThere()) {
                MainHook.takeOut();
                MainHook.endRunning();
            }
            Hook.decide(false, pausedByApp ? "paused by the app" : "paused in the background");
        } else if (!MainHook.isThere()) {
            if (MainHook.putIn(wanted)) {
                MainHook.endUnseen();
            } else {
                Hook.decide(false, "refused after a pause: " + ObserverHook.refusal());
            }
        }
    }

    /**
     * Adds to the status lines which annotations were refused, and how many faults were caught. Any thread.
     */
    public static String addTo(String lines) {
        return Faults.addTo(Annotations.addTo(lines));
    }
}
