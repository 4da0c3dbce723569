// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal.platform;

/**
 * Handles exceptions in the recorder's own Java code, or in app code that it called: the app goes on, and so
 * does the recorder's thread. Nothing here throws, because this is the very place that has to protect the
 * app: where the heap is used up, writing to the log may throw again.
 */
public final class Faults {
    /** The approximate number of faults. It is a plain number: for an object there might be no memory. */
    private static volatile int count;

    private Faults() {}

    /** Makes the VM load the class early, because loading needs memory, too. */
    public static void load() {}

    /**
     * Logs a fault. The stack shows where it was. There is no text from the caller, because its catch block
     * would have to create that first, and there may be no memory.
     */
    public static void log(Throwable fault) {
        count = count + 1;
        try {
            RecorderLog.fault("a fault that is kept from the app", fault);
        } catch (Throwable worse) {
            // There is no memory for a line of the log, either.
        }
    }

    /** Logs an event that is not the recorder's fault: a file that is gone, for example. */
    public static void warn(String what, Throwable why) {
        try {
            RecorderLog.warn(what, why);
        } catch (Throwable worse) {
            // As above; in an app's unit tests the platform's log throws, too.
        }
    }

    /** The text of a fault for the report. */
    public static String text(Throwable fault) {
        try {
            return String.valueOf(fault);
        } catch (Throwable worse) {
            return "failed, and cannot say how";
        }
    }

    /** Adds the number of faults to the lines of the status. */
    public static String addTo(String lines) {
        int faults = count;
        return faults == 0 || lines == null ? lines : lines + "java\t1\t" + faults + " faults, see the log\n";
    }
}
