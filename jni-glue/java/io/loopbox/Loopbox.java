package io.loopbox;

import android.os.Build;
import android.os.Looper;
import android.util.Log;
import java.io.File;

/**
 * A flight recorder for the main thread: what it did, does and was asked to do next, in one file when the app stops
 * responding. No method throws; what cannot work is off, and the report says why.
 */
public final class Loopbox {
    static final String TAG = "loopbox";

    private static final long DUMP_TIMEOUT_MS = 5_000;

    /** Build.VERSION_CODES.Q, which older SDKs do not have. */
    private static final int ANDROID_10 = 29;

    /** Written on the main thread only; the worker reads it to name the running message. */
    private static volatile Hook naming;

    private static volatile ReportListener listener;
    private static Hook hook;

    private Loopbox() {}

    /**
     * Starts recording the main thread. Call it on the main thread, as early as Application.onCreate or a content
     * provider.
     *
     * @return whether the recorder runs; the log says why when it does not
     */
    public static boolean install(Config config) {
        try {
            return start(config);
        } catch (Throwable fault) {
            Log.w(TAG, "not installed", fault);
            return false;
        }
    }

    /**
     * Writes a report now and waits for it, at most 5 seconds. Any thread.
     *
     * @param reason goes into the report
     * @return the file, or null when none was written
     */
    public static File dump(String reason) {
        try {
            String path = Native.dump(reason == null ? "" : reason, DUMP_TIMEOUT_MS);
            return path == null ? null : new File(path);
        } catch (Throwable fault) {
            Log.w(TAG, "no report", fault);
            return null;
        }
    }

    /** Stops recording and puts back what was hooked. Call it on the main thread. */
    public static void uninstall() {
        try {
            if (onMainThread() && hook != null) {
                stop();
            }
        } catch (Throwable fault) {
            Log.w(TAG, "not quite uninstalled", fault);
        }
    }

    private static boolean start(Config config) {
        if (!onMainThread()) {
            Log.w(TAG, "install must be called on the main thread");
            return false;
        }
        if (hook != null) {
            Log.w(TAG, "already installed");
            return false;
        }
        System.loadLibrary("loopbox");
        String refusal = Native.install(config.numbers(Build.VERSION.SDK_INT), config.strings());
        if (refusal != null) {
            Log.w(TAG, "not installed: " + refusal);
            return false;
        }
        listener = config.listener;
        Looper looper = Looper.getMainLooper();
        hook = hookInto(looper, config);
        if (hook == null) {
            Native.uninstall();
            return false;
        }
        Native.setHook(true, hook.describe());
        Looper.myQueue().addIdleHandler(new DisplacedWatch(hook, config.printerCheckMs));
        return true;
    }

    private static Hook hookInto(Looper looper, Config config) {
        boolean wanted =
                config.hook == Config.Hook.OBSERVER
                        || (config.hook == Config.Hook.AUTO && Build.VERSION.SDK_INT == ANDROID_10);
        if (wanted && config.hiddenApi != Config.HiddenApi.NONE) {
            ObserverHook observer = ObserverHook.install(config);
            if (observer != null) {
                // Without stacks only the Printer can name a message that does not end.
                if (config.runningName == Config.RunningName.PRINTER || !config.sampling) {
                    naming = PrinterHook.install(looper, config, true);
                }
                return observer;
            }
            if (config.hook == Config.Hook.OBSERVER) {
                Log.w(TAG, "not installed: the Observer hook is refused");
                return null;
            }
        }
        PrinterHook printer = PrinterHook.install(looper, config, false);
        naming = printer;
        return printer;
    }

    private static void stop() {
        hook.uninstall();
        Hook names = naming;
        if (names != null && names != hook) {
            names.uninstall();
        }
        naming = null;
        hook = null;
        listener = null;
        Native.uninstall();
    }

    private static boolean onMainThread() {
        return Looper.myLooper() != null && Looper.myLooper() == Looper.getMainLooper();
    }

    /** Called by the native worker: the line that Looper printed for the running message, or null. */
    static String runningLine() {
        Hook names = naming;
        return names == null ? null : names.runningLine();
    }

    /** Called by the native worker for each report. */
    static void onReport(String path, String reason) {
        ReportListener told = listener;
        if (told == null) {
            return;
        }
        try {
            told.onReport(new File(path), reason);
        } catch (Throwable fault) {
            Log.w(TAG, "the report listener threw", fault);
        }
    }
}
