// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal.platform;

/**
 * What went wrong in the recorder's own Java code, or in the app's that it called: the app goes on, and so
 * does the recorder's thread. Nothing here throws. Where the heap is used up, the log throws once more, out
 * of the very place that was to keep it from the app.
 */
public final class Faults {
    /**
     * About as many as there were. A number alone: what the class had to make might be what there is no
     * memory for.
     */
    private static volatile int count;

    private Faults() {}

    /** Has the class loaded, which takes memory, too. */
    public static void load() {}

    /**
     * Where it was the stack says: a text of the caller's own would be made in its catch block, when it is
     * first used.
     */
    public static void log(Throwable fault) {
        count = count + 1;
        try {
            RecorderLog.fault("a fault that is kept from the app", fault);
        } catch (Throwable worse) {
            // There is no memory for a line of the log, either.
        }
    }

    /** For what is no fault of the recorder: a file that is gone. */
    public static void warn(String what, Throwable why) {
        try {
            RecorderLog.warn(what, why);
        } catch (Throwable worse) {
            // As above; in an app's unit tests the platform's log throws, too.
        }
    }

    /** The words of a fault, for the report. */
    public static String text(Throwable fault) {
        try {
            return String.valueOf(fault);
        } catch (Throwable worse) {
            return "failed, and cannot say how";
        }
    }

    /** Adds how many there were to the lines of the status. */
    public static String addTo(String lines) {
        int faults = count;
        return faults == 0 || lines == null ? lines : lines + "java\t1\t" + faults + " faults, see the log\n";
    }
}
