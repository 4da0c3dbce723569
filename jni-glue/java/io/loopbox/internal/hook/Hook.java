// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal.hook;

import io.loopbox.internal.platform.Faults;
import io.loopbox.internal.recording.Native;

/**
 * A way to see each dispatch of the main Looper. Everything but {@link #runningLine}, {@link #there}, {@link
 * #isOurs} and a read of {@link #active} is for the main thread.
 */
public abstract class Hook {
    private static boolean decidedOn;
    private static String decided = "";

    /**
     * Whether the hook is in use. False after uninstall or a fault in our code: then calls are only passed
     * on.
     */
    boolean active = true;

    /** How often {@link #armAgain} has installed the hook again. */
    volatile int armed;

    /**
     * A text for the report: why this hook is used instead of a cheaper one. Null when no cheaper hook was
     * tried.
     */
    String instead;

    /** Sets the state in the report: whether a hook works, and how or why not. On the main thread. */
    public static void decide(boolean on, String detail) {
        decidedOn = on;
        decided = detail;
        Native.setHook(on, detail);
    }

    /**
     * Sets the state in the report to unknown, until main decides. Any thread. Main may have decided just
     * before, without the caller knowing. So the caller posts a message, in which main decides or repeats its
     * decision.
     */
    static void doubt(String detail) {
        Native.setHook(false, detail);
    }

    /**
     * Sets the state in the report to what {@link #decide} has set last, because {@link #doubt} may have
     * changed it since. On the main thread.
     */
    static void repeatDecision() {
        Native.setHook(decidedOn, decided);
    }

    /** A text for the report: how the hook works. */
    abstract String describe();

    /** Whether the hook reports messages. */
    boolean records() {
        return true;
    }

    /** Appends to a description how often the hook was installed again, and why a cheaper one is not used. */
    final String withArmed(String text) {
        String times = armed == 0 ? "" : ", armed again " + armed + (armed == 1 ? " time" : " times");
        return text + times + (instead == null ? "" : ", " + instead);
    }

    /**
     * Removes the hook and restores what was there before. When another library has wrapped the hook, it
     * stays and only passes calls on. The next resume or install then reuses this hook, because otherwise
     * each of them would add another hook to every message.
     */
    abstract void uninstall();

    /**
     * The object that Looper calls at the hook's place, or null. Any thread; takes no lock.
     *
     * @throws Exception when that cannot be seen
     */
    abstract Object there() throws Exception;

    /** Whether the object is the hook itself. Any thread. */
    abstract boolean isOurs(Object there);

    /**
     * Puts the hook back after another library displaced it. Returns whether that worked; {@link #describe}
     * then shows how the hook works.
     */
    abstract boolean armAgain();

    /** Called when the queue calls its idle handlers. On the main thread. */
    void idle() {}

    /** The start line of the running message, or null. Any thread. */
    String runningLine() {
        return null;
    }

    /**
     * Handles a fault of our own code inside of Looper's call: the hook deactivates itself for good, and the
     * app goes on.
     */
    final void fail(Throwable fault) {
        active = false;
        try {
            // First, and without a text to make: nothing wakes who watches main any more.
            Native.doubtHook();
            MainHook.endRunning();
            Faults.log(fault);
            decide(false, "failed: " + fault);
        } catch (Throwable ignored) {
            // Out of memory or stack: nothing more can be logged.
        }
    }
}
