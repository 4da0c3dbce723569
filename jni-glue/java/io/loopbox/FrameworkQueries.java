// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox;

/** What the native worker asks of the {@link Framework}. */
final class FrameworkQueries {
    /** Bits of {@link #state}. */
    private static final int THERE = 1;

    private static final int DEBUGGED = 2;

    /** The wall clock may have been set back that far between a process's last sign of life and its end. */
    private static final long CLOCK_MS = 60_000;

    private FrameworkQueries() {}

    /** Whether there is somebody to ask, and whether a debugger is attached. */
    static int state() {
        Framework framework = Recorder.framework();
        return (framework == Framework.NONE ? 0 : THERE) | (framework.isDebugged() ? DEBUGGED : 0);
    }

    /** What the system says about this process not responding, or null. */
    static String notResponding() {
        return Recorder.framework().notResponding();
    }

    /**
     * How a process ended: reason, status, time and words, each on a line. Process ids come back, so it is the first end of a
     * process of that name after its last sign of life.
     *
     * @param aliveMs System.currentTimeMillis of that
     * @return null when it is not known
     */
    static String exit(String process, int pid, long aliveMs) {
        Exit[] exits = Recorder.framework().exits();
        Exit found = null;
        for (Exit exit : exits == null ? new Exit[0] : exits) {
            boolean later = exit.timeMs >= aliveMs - CLOCK_MS;
            if (later && exit.pid == pid && process.equals(exit.process)) {
                // The newest comes first.
                found = exit;
            }
        }
        if (found == null) {
            return null;
        }
        String words = found.description == null ? "" : found.description;
        return found.reason + "\n" + found.status + "\n" + found.timeMs + "\n" + words;
    }
}
