// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal;

import android.os.Build;
import android.os.Handler;
import android.os.Looper;
import android.os.SystemClock;
import android.view.Window;
import java.io.File;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** The recording in progress. For the main thread, except where noted. */
public final class Recorder {
    /** Build.VERSION_CODES.Q, which older SDKs do not have. */
    private static final int ANDROID_10 = 29;

    /** More loops inside each other than that do not happen. */
    private static final int MOST_NESTED = 64;

    /** Written on the main thread only; the worker reads it to name the running message. */
    private static volatile Hook naming;

    /** Until when what earlier processes left has not been looked at. */
    private static volatile CountDownLatch lookBack = new CountDownLatch(0);
    private static volatile CountDownLatch starting = new CountDownLatch(0);

    private static final long LOOK_BACK_MS = 5_000;

    /**
     * Null while nothing is recorded. Changed with {@link #CHANGING} held, on the main thread or, to null, on
     * any.
     */
    private static volatile Settings settings;

    /**
     * Held while a recording begins or ends: for the native side's installation at the longest, never while
     * code of the app runs or the disk is waited for.
     */
    private static final Object CHANGING = new Object();

    private static final String STOPPED = "stopped by the app meanwhile";

    // No constants of the compiler: whose first use makes a text, for which there may be no memory when the app stops.
    public static final String SWITCHED_OFF = "switched off by the app".intern();
    public static final String UNINSTALLED = "uninstalled".intern();

    /** Why nothing is recorded, while nothing is. */
    private static volatile String offBecause = "not installed";

    /** The worker's alone. */
    private static Thread switchingOff;

    private static volatile boolean isLoaded;

    /** How often the app has stopped recording. With {@link #CHANGING} held. */
    private static int stops;

    /**
     * How long who stops it waits for the one step that each thread of the recorder may be in: the disk may
     * hold it up.
     */
    private static final long END_MS = 1_000;
    private static final long END_ON_MAIN_MS = 50;

    /** What the recording writes and tells goes through it. */
    private static volatile Gate gate = new Gate();

    /** A recording has ended, and {@link #leave} has to follow on the main thread. */
    private static volatile boolean leaves;

    private static volatile Framework framework = Framework.NONE;
    private static volatile About about;
    private static Hook hook;

    /** Written on the main thread only; the worker notifies it of messages that the hook did not see. */
    private static volatile DisplacedWatch displacedWatch;

    // Why there is no hook while the recorder is on.

    /** The app may choose it before there is a recording, on any thread. */
    private static volatile boolean pausedByApp;

    private static boolean pausedInBackground;

    /** Whether the app has switched the sampler on or off; null while its settings have it. */
    private static volatile Boolean samplingChosen;

    private Recorder() {}

    public static boolean onMainThread() {
        return Looper.myLooper() != null && Looper.myLooper() == Looper.getMainLooper();
    }

    /** Runs it on the main thread: now, when this is it. Any thread. */
    public static void onMain(Runnable what) {
        if (onMainThread()) {
            what.run();
        } else {
            later(what);
        }
    }

    /** Runs it as a message of the main thread. Any thread. */
    static void later(Runnable what) {
        new Handler(Looper.getMainLooper()).post(what);
    }

    /** How often the app has stopped recording: taken before all that {@link #start} needs. Any thread. */
    public static int stops() {
        synchronized (CHANGING) {
            return stops;
        }
    }

    /**
     * @param killSwitch {@link App#killSwitch}; null without a Context
     * @param stopsBefore when the app stops it after that, nothing starts
     * @return null, or why it could not start
     */
    public static String start(
            Settings wanted,
            File directory,
            String appVersion,
            Framework asked,
            File killSwitch,
            int stopsBefore) {
        if (!onMainThread()) {
            return "install must be called on the main thread";
        }
        if (settings != null) {
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
                    framework = asked;
                    // Before there is a worker: it may have an earlier launch's report for the listener at
                    // once.
                    lookBack = new CountDownLatch(1);
                    starting = new CountDownLatch(1);
                    gate = new Gate();
                    settings = wanted;
                    about = new About(directory, appVersion, killSwitch);
                    Annotations.begin(Arrays.asList(strings).subList(Settings.ANNOTATIONS_AT, strings.length));
                    try {
                        Listeners.begin(wanted.listeners);
                        refusal = Native.install(numbers, strings);
                    } finally {
                        if (refusal != null) {
                            settings = null;
                            gate.close();
                            Listeners.end();
                        }
                    }
                }
            }
        } finally {
            starting.countDown();
            if (refusal != null) {
                lookedBack();
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
        if (!paused && !putIn(wanted)) {
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
        if (settings != wanted) {
            // On another thread, just now.
            leaves = true;
            leave();
            return STOPPED;
        }
        return null;
    }

    /** Gives the new recording what the app has said and chosen before there was one. */
    private static void passOn(Settings wanted) {
        Annotations.giveEarly();
        Breadcrumbs.giveEarly();
        ArrayDeque<Breadcrumbs.Early> rest = null;
        synchronized (CHANGING) {
            // Unless it has just ended.
            if (settings == wanted) {
                Annotations.pass();
                rest = Breadcrumbs.pass();
            }
        }
        Breadcrumbs.give(rest);
        Boolean sampling = samplingChosen;
        if (sampling != null) {
            Native.setSampling(sampling);
        }
    }

    /** What earlier processes left has been looked at, or will not be. Any thread. */
    static void lookedBack() {
        lookBack.countDown();
    }

    /** Asks the system what reports say of this process and of its ANRs, on a thread that may wait for it. */
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
                                lookedBack();
                            }
                        }
                    });
        } catch (Throwable noMemory) {
            lookedBack();
            Faults.log(noMemory);
        }
    }

    private static void askAboutStart() throws InterruptedException {
        // The worker may come here before the recorder that takes the words is there.
        starting.await(LOOK_BACK_MS, TimeUnit.MILLISECONDS);
        Settings wanted = settings;
        if (wanted != null && SystemProfiles.wanted(wanted) != 0) {
            SystemProfiles.start(directory(), wanted, framework);
        }
        if (wanted != null && wanted.anrWarnings) {
            AnrWarnings.start(framework);
        }
        String started = framework.started();
        if (started != null) {
            Native.annotate("system_start", started);
        }
    }

    /** Waits for {@link #lookedBack}, some seconds at most; not on the main thread. */
    public static void awaitLookBack() throws InterruptedException {
        // Asked first: an app's unit test has no main thread, and nothing that would look back.
        if (lookBack.getCount() > 0 && !onMainThread()) {
            lookBack.await(LOOK_BACK_MS, TimeUnit.MILLISECONDS);
        }
    }

    /**
     * Ends the recording: when this returns nothing is recorded, written or told any more. Only what a thread
     * of the recorder was in the middle of, and is held up in by the disk, may end later than the time that
     * is waited for it. What is the main thread's follows when that comes to it, and does nothing until then.
     * Any thread.
     *
     * @param why for the status
     */
    public static void stop(String why) {
        Gate ended;
        boolean ends;
        synchronized (CHANGING) {
            stops++;
            ended = gate;
            ends = settings != null;
            // Where nothing was recorded, the reason is an earlier one, unless no launch records from now on.
            if (ends || SWITCHED_OFF.equals(why)) {
                offBecause = why;
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
            long mostMs = onMainThread() ? END_ON_MAIN_MS : END_MS;
            long beganMs = SystemClock.uptimeMillis();
            Native.awaitEnd(mostMs);
            ended.awaitLeft(Math.max(0, mostMs - (SystemClock.uptimeMillis() - beganMs)));
        }
        if (ends) {
            onMain(
                    new Runnable() {
                        @Override
                        public void run() {
                            leave();
                        }
                    });
        }
    }

    /** Another process of the app has switched it off. On the native worker, which the end of the recording waits for. */
    static void switchedOff() {
        if (switchingOff == null || !switchingOff.isAlive()) {
            switchingOff =
                    Background.run(
                            "loopbox-off",
                            new Runnable() {
                                @Override
                                public void run() {
                                    About ended = about;
                                    Recorder.stop(SWITCHED_OFF);
                                    Purge.ifAsked(ended.killSwitch, ended.directory);
                                }
                            });
        }
    }

    /** Everything that ends at once. With {@link #CHANGING} held; nothing of it waits. */
    private static void end() {
        Settings ended = settings;
        settings = null;
        gate.close();
        leaves = true;
        Native.uninstall();
        Listeners.end();
        MonitorThread.end();
        MonitorUpload.stopAll();
        FrameWatch.silence();
        lookedBack();
        try {
            if (SystemProfiles.wanted(ended) != 0) {
                SystemProfiles.stop(framework);
            }
            if (ended.anrWarnings) {
                AnrWarnings.stop(framework, gate);
            }
        } catch (Throwable fault) {
            Faults.log(fault);
        }
    }

    /** What is the main thread's: its hooks, and what it did for the native side. */
    private static void leave() {
        if (!leaves) {
            return;
        }
        leaves = false;
        try {
            takeOut();
            // One that is installed anew begins with its first pause.
            displacedWatch = null;
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

    /** What is written and told goes through it, in the recording that is in progress. Any thread. */
    static Gate gate() {
        return gate;
    }

    /**
     * By the app's choice: nothing is recorded until it chooses otherwise, also from the installation on. Any
     * thread: a message that runs is not sampled any more, and is no hang; the hook is taken out when the main
     * thread comes to it.
     */
    public static void pause(boolean pause) {
        pausedByApp = pause;
        if (!isOn()) {
            // Who installs it sees the choice.
            return;
        }
        if (pause) {
            Native.setPaused(true);
        }
        onMain(
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

    /** Whether stacks are sampled, by the app's choice, also from the installation on. Any thread. */
    public static void setSampling(boolean on) {
        samplingChosen = on;
        if (isOn()) {
            Native.setSampling(on);
        }
    }

    /** What the Activities or the system say, when the app wants to record in the foreground only. */
    static void background(boolean background) {
        pausedInBackground = background && settings != null;
        settle();
    }

    /** Puts the hook in or takes it out, as the reasons to pause have it. */
    private static void settle() {
        Settings wanted = settings;
        if (wanted == null) {
            return;
        }
        boolean pause = pausedByApp || pausedInBackground;
        Native.setPaused(pause);
        FrameWatch.setPaused(pause);
        if (pause) {
            if (hook != null) {
                takeOut();
                endRunning();
            }
            Hook.decide(false, pausedByApp ? "paused by the app" : "paused in the background");
        } else if (hook == null && !putIn(wanted)) {
            Hook.decide(false, "refused after a pause: " + ObserverHook.refusal());
        }
    }

    /** Why nothing is recorded, when nothing is. Any thread. */
    public static String offBecause() {
        return offBecause;
    }

    /** An installation was refused. Any thread. */
    public static void setOffBecause(String why) {
        offBecause = why;
    }

    /** Ends what runs as far as the hook knows: it will not see the end. On the main thread. */
    static void endRunning() {
        Native.endAdopted();
        for (int nested = 0; nested < MOST_NESTED && Native.depth() > 0; nested++) {
            MainThread.end();
        }
    }

    /** Whether messages are recorded now. */
    static boolean isHooked() {
        return hook != null && hook.records();
    }

    /** Any thread. */
    public static boolean isOn() {
        return settings != null;
    }

    /** Where reports go. Any thread, while something is recorded. */
    static File directory() {
        return about.directory;
    }

    /** Version name and code, or an empty text. Any thread, while something is recorded. */
    static String appVersion() {
        return about.appVersion;
    }

    /** What the installation was given beside its settings. */
    private static final class About {
        final File directory;
        final String appVersion;

        /** Null without a Context. */
        final File killSwitch;

        About(File directory, String appVersion, File killSwitch) {
            this.directory = directory;
            this.appVersion = appVersion;
            this.killSwitch = killSwitch;
        }
    }

    /** By what is recorded, or null. Any thread. */
    static Settings settings() {
        return settings;
    }

    /** Adds what was kept from the app, or for it, to the lines of the status. Any thread. */
    public static String addTo(String lines) {
        return Faults.addTo(Annotations.addTo(lines));
    }

    /** Records this window's input, where messages are recorded. On the main thread. */
    public static void watchInput(Window window) {
        Settings wanted = settings;
        if (window != null && wanted != null && wanted.isHooked() && onMainThread()) {
            InputWatch.watch(window, true);
        }
    }

    /** Whether the system's traces, which name all threads, may be put into reports. Any thread. */
    public static boolean keepsTraces() {
        Settings wanted = settings;
        return wanted != null && !wanted.redactThreadNames;
    }

    /** What the system reports about this process. Any thread. */
    public static Framework framework() {
        return framework;
    }

    /**
     * The line that Looper printed for the running message, or the word for input and the class of its window's
     * callback, or null. Any thread.
     */
    static String runningLine() {
        Hook names = naming;
        String line = names == null ? null : names.runningLine();
        return line == null ? InputWatch.running() : line;
    }

    /** A message runs that no hook reported. Any thread. */
    static void messageUnseen() {
        DisplacedWatch watch = displacedWatch;
        if (watch != null) {
            watch.messageUnseen();
        }
    }

    /** Checks whether the hook is in its place; {@code doubted}: it has missed something. Any thread. */
    public static void checkHook(boolean doubted) {
        DisplacedWatch watch = displacedWatch;
        if (watch != null && settings != null) {
            watch.check(doubted);
        }
    }

    private static boolean putIn(Settings wanted) {
        hook = hookInto(Looper.getMainLooper(), wanted);
        if (hook == null) {
            return false;
        }
        Hook.decide(hook.records(), hook.describe());
        if (!hook.records()) {
            return true;
        }
        DisplacedWatch watch = displacedWatch;
        if (watch == null || watch.hook != hook) {
            watch = new DisplacedWatch(hook, wanted.printerCheckMs);
            displacedWatch = watch;
        }
        watch.begin();
        return true;
    }

    private static void takeOut() {
        Hook names = naming;
        if (names != null && names != hook) {
            names.uninstall();
        }
        naming = null;
        if (displacedWatch != null) {
            displacedWatch.end();
        }
        if (hook != null) {
            hook.uninstall();
            hook = null;
        }
    }

    private static Hook hookInto(Looper looper, Settings settings) {
        if (!settings.isHooked()) {
            return new NoHook();
        }
        String refused = null;
        if (settings.poll) {
            PollHook poll = PollHook.install(settings);
            if (poll != null) {
                return poll;
            }
            refused = PollHook.refusal();
            RecorderLog.info(refused);
        }
        // Either will do: the Observer where the platform has a usable one.
        boolean observes = settings.observer && (!settings.printer || Build.VERSION.SDK_INT == ANDROID_10);
        if (observes && settings.mayReflect) {
            ObserverHook observer = ObserverHook.install(settings);
            if (observer != null) {
                observer.instead = refused;
                // Without stacks only the Printer can name a message that does not end.
                if (settings.namedByPrinter || !settings.sampling) {
                    naming = PrinterHook.install(looper, settings, true);
                }
                return observer;
            }
            if (!settings.printer) {
                RecorderLog.warn("the Observer hook is refused");
                return null;
            }
        }
        PrinterHook printer = PrinterHook.install(looper, settings, false);
        printer.instead = refused;
        if (observes && settings.mayReflect) {
            printer.instead = refused == null ? ObserverHook.refusal() : refused + ", " + ObserverHook.refusal();
        }
        naming = printer;
        return printer;
    }
}
