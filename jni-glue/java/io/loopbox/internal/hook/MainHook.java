// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal.hook;

import android.os.Build;
import android.os.Looper;
import io.loopbox.internal.platform.MainLooper;
import io.loopbox.internal.platform.RecorderLog;
import io.loopbox.internal.recording.Native;
import io.loopbox.internal.recording.Recording;
import io.loopbox.internal.recording.Settings;

/** Installs and removes the hook of the main Looper. On the main thread, except where noted. */
public final class MainHook {
    /** Build.VERSION_CODES.Q, which older SDKs do not have. */
    private static final int ANDROID_10 = 29;

    /** The most loops inside each other that are expected. */
    private static final int MOST_NESTED = 64;

    /** The hook that names the running message. Only the main thread sets it; the worker reads it. */
    private static volatile Hook naming;

    private static final Runnable NOTHING =
            new Runnable() {
                @Override
                public void run() {}
            };

    private static Hook hook;

    /**
     * The worker notifies this watch when there were messages that the hook did not see. Only the main thread
     * sets this field.
     */
    private static volatile DisplacedWatch displacedWatch;

    private MainHook() {}

    public static boolean isThere() {
        return hook != null;
    }

    /** Whether messages are recorded now. */
    public static boolean isHooked() {
        return hook != null && hook.records();
    }

    /**
     * Puts in the hook that was chosen; false where none can be put in, with the reason in {@link
     * ObserverHook#refusal}.
     */
    public static boolean putIn(Settings wanted) {
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

    public static void takeOut() {
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

    /** Makes the next hook begin without the state of this one. */
    public static void forget() {
        displacedWatch = null;
    }

    /**
     * Ends the message that the hook takes for running, because the hook will not see its end. On the main
     * thread.
     */
    public static void endRunning() {
        Native.endAdopted();
        for (int nested = 0; nested < MOST_NESTED && Native.depth() > 0; nested++) {
            MainThread.end();
        }
    }

    /**
     * Posts an empty message, now that the hook is back. When the hook sees this message begin, the recorder
     * notices that messages were missed, and that a message that seemed to run is over. Without the empty
     * message this could take until another message comes, or until the process is killed.
     */
    public static void endUnseen() {
        if (isHooked()) {
            MainLooper.post(NOTHING);
        }
    }

    /** The line that Looper printed for the running message, or null. Any thread. */
    public static String runningLine() {
        Hook names = naming;
        return names == null ? null : names.runningLine();
    }

    /** Called when a message runs that no hook reported. Any thread. */
    public static void messageUnseen() {
        DisplacedWatch watch = displacedWatch;
        if (watch != null) {
            watch.messageUnseen();
        }
    }

    /**
     * Checks whether the hook is in its place. {@code doubted} is whether the hook has missed something. Any
     * thread.
     */
    public static void check(boolean doubted) {
        DisplacedWatch watch = displacedWatch;
        if (watch != null && Recording.isOn()) {
            watch.check(doubted);
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
    }}
