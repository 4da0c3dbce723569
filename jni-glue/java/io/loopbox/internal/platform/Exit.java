// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal.platform;

import android.system.OsConstants;
import java.io.IOException;
import java.io.InputStream;
import java.util.List;

/** How a process of this app ended, as the system recorded it. */
public final class Exit {
    // ApplicationExitInfo.REASON_*.
    static final int SIGNALED = 2;
    static final int CRASH = 4;
    static final int CRASH_NATIVE = 5;
    public static final int ANR = 6;

    /** How far the wall clock may have been set back between a process's last sign of life and its end. */
    private static final long CLOCK_MS = 60_000;

    /** Process id; the system reuses these. */
    final int pid;

    /** The name in the manifest: the package, or {@code package:name}. */
    final String process;

    /** System.currentTimeMillis of the end. */
    public final long timeMs;

    /** ApplicationExitInfo.REASON_*. */
    public final int reason;

    /** The signal or exit code that it ended by. */
    public final int status;

    /** The system's own words, "user request after error: Input dispatching timed out ..."; null for none. */
    public final String description;

    /** The state that the app has stored with the system for the process; null for none. */
    public final byte[] state;

    /**
     * Numbers about the ANR that ended the process: id, type, time-out in ms, and 1 where the user could
     * notice the ANR; null where the system does not report them.
     */
    public final long[] anr;

    private final Trace trace;

    /** The trace that the system keeps of an ANR: ART's own. */
    interface Trace {
        /**
         * Opens the trace.
         *
         * @return null for none
         */
        InputStream open() throws IOException;
    }

    Exit(int pid, String process, long timeMs, int reason, int status, String description, byte[] state, long[] anr, Trace trace) {
        this.pid = pid;
        this.process = process;
        this.timeMs = timeMs;
        this.reason = reason;
        this.status = status;
        this.description = description;
        this.state = state;
        this.anr = anr;
        this.trace = trace;
    }

    /** ART's trace, to be closed; null for none. */
    public InputStream trace() throws IOException {
        return trace.open();
    }

    /** Whether the process ended because something went wrong in it: a crash or an ANR. */
    public boolean isFault() {
        return reason == CRASH || reason == CRASH_NATIVE || reason == ANR || (reason == SIGNALED && isFault(status));
    }

    /** Whether the signal means a fault in the process, and not that another process ended it. */
    private static boolean isFault(int signal) {
        return signal == OsConstants.SIGSEGV
                || signal == OsConstants.SIGABRT
                || signal == OsConstants.SIGBUS
                || signal == OsConstants.SIGILL
                || signal == OsConstants.SIGTRAP;
    }

    /**
     * Finds how a process ended. If it was ended by an ANR of which the system had warned it, that end is the
     * result. Otherwise the result is the first end of a process with that name and id after the last sign of
     * life: process ids are reused.
     *
     * @param exits newest first; null for none
     * @param aliveMs System.currentTimeMillis of the last sign of life
     * @param warnings each begins with the id and the type of an ANR
     * @return null when it is not known
     */
    public static Exit find(Exit[] exits, String process, int pid, long aliveMs, List<long[]> warnings) {
        Exit found = null;
        for (Exit exit : exits == null ? new Exit[0] : exits) {
            if (exit.pid == pid && process.equals(exit.process)) {
                if (exit.isOfOne(warnings)) {
                    return exit;
                }
                found = exit.timeMs >= aliveMs - CLOCK_MS ? exit : found;
            }
        }
        return found;
    }

    /**
     * Whether the process was ended by an ANR that one of these warnings was about. ANR numbers start anew
     * when the device restarts, but the caller has compared the process id, too, which leaves next to no
     * doubt.
     */
    private boolean isOfOne(List<long[]> warnings) {
        for (long[] warning : warnings) {
            if (anr != null && anr[0] == warning[0] && anr[1] == warning[1]) {
                return true;
            }
        }
        return false;
    }
}
