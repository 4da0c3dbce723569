// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal;

/** What the native worker asks of the {@link Framework}. */
final class FrameworkQueries {
    /** Bits of {@link #state}. */
    private static final int THERE = 1;

    private static final int DEBUGGED = 2;

    private FrameworkQueries() {}

    /** Whether the framework can be asked, and whether a debugger is attached. */
    static int state() {
        Framework framework = Recorder.framework();
        return (framework == Framework.NONE ? 0 : THERE) | (framework.isDebugged() ? DEBUGGED : 0);
    }

    /** What the system reports about this process not responding, or null. */
    static String notResponding() {
        return Recorder.framework().notResponding();
    }

    /**
     * How a process ended: reason, status, time and words, each on a line.
     *
     * @param aliveMs see {@link Exit#find}
     * @return null when it is not known
     */
    static String exit(String process, int pid, long aliveMs) {
        Exit found = Exit.find(Recorder.framework().exits(), process, pid, aliveMs);
        if (found == null) {
            return null;
        }
        String words = found.description == null ? "" : found.description;
        return found.reason + "\n" + found.status + "\n" + found.timeMs + "\n" + words;
    }
}
