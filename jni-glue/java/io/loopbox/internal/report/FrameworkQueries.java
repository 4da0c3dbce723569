// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal.report;

import io.loopbox.internal.platform.Exit;
import io.loopbox.internal.platform.Framework;
import io.loopbox.internal.recording.Recording;
import java.util.ArrayList;
import java.util.List;

/** The queries of the native worker to the {@link Framework}. */
final class FrameworkQueries {
    /**
     * Bits of {@link #state}: {@code THERE}: the framework can be asked; {@code DEBUGGED}: a debugger is
     * attached.
     */
    private static final int THERE = 1;

    private static final int DEBUGGED = 2;

    private FrameworkQueries() {}

    /** Whether the framework can be asked, and whether a debugger is attached. */
    static int state() {
        Framework framework = Recording.framework();
        return (framework == Framework.NONE ? 0 : THERE) | (framework.isDebugged() ? DEBUGGED : 0);
    }

    /** What the system reports about this process not responding, or null. */
    static String notResponding() {
        return Recording.framework().notResponding();
    }

    /**
     * How a process ended, each value on a line: reason, status, time, the four numbers of its ANR (empty for
     * none), and description.
     *
     * @param warned id and type of each ANR that it was warned of, with blanks between
     * @param aliveMs see {@link Exit#find}
     * @return null when it is not known
     */
    static String exit(String process, String warned, int pid, long aliveMs) {
        List<long[]> warnings = new ArrayList<long[]>();
        String[] parts = warned.split(" ");
        for (int at = 0; at + 1 < parts.length; at += 2) {
            warnings.add(new long[] {Long.parseLong(parts[at]), Long.parseLong(parts[at + 1])});
        }
        Exit found = Exit.find(Recording.framework().exits(), process, pid, aliveMs, warnings);
        if (found == null) {
            return null;
        }
        String words = found.description == null ? "" : found.description;
        long[] anr = found.anr;
        String numbers = anr == null ? "" : anr[0] + " " + anr[1] + " " + anr[2] + " " + anr[3];
        return found.reason + "\n" + found.status + "\n" + found.timeMs + "\n" + numbers + "\n" + words;
    }
}
