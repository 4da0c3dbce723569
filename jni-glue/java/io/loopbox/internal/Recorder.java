// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal;

import android.os.Build;
import android.os.Handler;
import android.os.Looper;
import android.util.Log;
import android.view.Window;
import io.loopbox.Config;
import java.io.File;
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

    private static volatile Settings settings;
    private static volatile Framework framework = Framework.NONE;
    private static volatile About about;
    private static Hook hook;

    /** Written on the main thread only; the worker notifies it of messages that the hook did not see. */
    private static volatile DisplacedWatch displacedWatch;

    // Why there is no hook while the recorder is on.
    private static boolean pausedByApp;
    private static boolean pausedInBackground;

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

    /**
     * @return null, or why it could not start
     */
    public static String start(Settings wanted, File directory, String appVersion, Framework asked) {
        if (!onMainThread()) {
            return "install must be called on the main thread";
        }
        if (settings != null) {
            return "already installed";
        }
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
            System.loadLibrary("loopbox");
            framework = asked;
            // Before there is a worker: it may have an earlier launch's report for the listener at once.
            lookBack = new CountDownLatch(1);
            starting = new CountDownLatch(1);
            settings = wanted;
            about = new About(directory, appVersion);
            String[] strings = wanted.strings(directory, appVersion, mark);
            Annotations.begin(Arrays.asList(strings).subList(Settings.ANNOTATIONS_AT, strings.length));
            long[] numbers = wanted.numbers(Build.VERSION.SDK_INT);
            refusal = Native.install(numbers, strings);
        } finally {
            starting.countDown();
            if (refusal != null) {
                settings = null;
                lookedBack();
                if (guard != null) {
                    guard.end();
                }
            }
        }
        if (refusal != null) {
            return refusal;
        }
        if (wanted.isHooked()) {
            InstallMessage.adopt();
        }
        if (!putIn()) {
            stop();
            return "the Observer hook is refused";
        }
        PendingQueue.begin(wanted);
        FrameWatch.start(wanted.frames);
        return null;
    }

    /** What earlier processes left has been looked at, or will not be. Any thread. */
    static void lookedBack() {
        lookBack.countDown();
    }

    /** Asks the system what reports say of this process and of its ANRs. Not on the main thread. */
    static void noteStart() throws InterruptedException {
        // The worker may come here before the recorder that takes the words is there.
        starting.await(LOOK_BACK_MS, TimeUnit.MILLISECONDS);
        Settings wanted = settings;
        if (wanted != null && wanted.systemProfiles) {
            SystemProfiles.start(directory(), framework);
        }
        String started = framework.started();
        if (started != null) {
            Native.annotate("system_start", started);
        }
    }

    /** Waits for {@link #lookedBack}, some seconds at most; not on the main thread. */
    public static void awaitLookBack() throws InterruptedException {
        if (!onMainThread()) {
            lookBack.await(LOOK_BACK_MS, TimeUnit.MILLISECONDS);
        }
    }

    public static void stop() {
        if (settings == null) {
            return;
        }
        takeOut();
        PendingQueue.end();
        FrameWatch.stop();
        InputWatch.takeOut();
        MonitorThread.end();
        if (settings.systemProfiles) {
            SystemProfiles.stop(framework);
        }
        settings = null;
        lookedBack();
        pausedByApp = false;
        pausedInBackground = false;
        Native.uninstall();
    }

    /** By the app's choice: nothing is recorded until it chooses otherwise. */
    public static void pause(boolean pause) {
        pausedByApp = pause && settings != null;
        settle();
    }

    /** What the Activities say, when the app wants to record in the foreground only. */
    static void background(boolean background) {
        pausedInBackground = background && settings != null;
        settle();
    }

    /** Puts the hook in or takes it out, as the reasons to pause have it. */
    private static void settle() {
        if (settings == null) {
            return;
        }
        boolean pause = pausedByApp || pausedInBackground;
        Native.setPaused(pause);
        FrameWatch.setPaused(pause);
        if (pause && hook != null) {
            takeOut();
            // We are inside of a message whose end we shall not see.
            Native.endAdopted();
            for (int nested = 0; nested < MOST_NESTED && Native.depth() > 0; nested++) {
                MainThread.end();
            }
            Native.setHook(false, pausedByApp ? "paused by the app" : "paused in the background");
        } else if (!pause && hook == null && !putIn()) {
            Native.setHook(false, "refused after a pause");
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

        About(File directory, String appVersion) {
            this.directory = directory;
            this.appVersion = appVersion;
        }
    }

    /** By what is recorded, or null. Any thread. */
    static Settings settings() {
        return settings;
    }

    /** Adds something about the app to each report from now on, or takes it out. Any thread. */
    public static void annotate(String name, String value) {
        try {
            Settings wanted = settings;
            if (wanted != null) {
                String kept = value == null ? null : wanted.redacted(name, value);
                Annotations.put(name, kept);
                Native.annotate(name, kept);
            }
        } catch (Throwable fault) {
            Log.w(Tag.LOOPBOX, "not annotated", fault);
        }
    }

    /** Records this window's input, where messages are recorded. On the main thread. */
    public static void watchInput(Window window) {
        if (window != null && settings != null && settings.isHooked() && onMainThread()) {
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

    private static boolean putIn() {
        hook = hookInto(Looper.getMainLooper());
        if (hook == null) {
            return false;
        }
        Native.setHook(hook.records(), hook.describe());
        if (!hook.records()) {
            return true;
        }
        DisplacedWatch watch = new DisplacedWatch(hook, settings.printerCheckMs);
        displacedWatch = watch;
        Looper.myQueue().addIdleHandler(watch);
        return true;
    }

    private static void takeOut() {
        Hook names = naming;
        if (names != null && names != hook) {
            names.uninstall();
        }
        naming = null;
        displacedWatch = null;
        if (hook != null) {
            hook.uninstall();
            hook = null;
        }
    }

    private static Hook hookInto(Looper looper) {
        if (!settings.isHooked()) {
            return new NoHook();
        }
        boolean wanted =
                settings.hook == Config.Hook.OBSERVER
                        || (settings.hook == Config.Hook.AUTO && Build.VERSION.SDK_INT == ANDROID_10);
        if (wanted && settings.mayReflect()) {
            ObserverHook observer = ObserverHook.install(settings);
            if (observer != null) {
                // Without stacks only the Printer can name a message that does not end.
                if (settings.runningName == Config.RunningName.PRINTER || !settings.sampling) {
                    naming = PrinterHook.install(looper, settings, true);
                }
                return observer;
            }
            if (settings.hook == Config.Hook.OBSERVER) {
                Log.w(Tag.LOOPBOX, "the Observer hook is refused");
                return null;
            }
        }
        PrinterHook printer = PrinterHook.install(looper, settings, false);
        naming = printer;
        return printer;
    }
}
