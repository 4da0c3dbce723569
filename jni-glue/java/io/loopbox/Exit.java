// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox;

/** How a process of this app ended, as the system recorded it. */
final class Exit {
    /** ApplicationExitInfo.REASON_ANR. */
    static final int ANR = 6;

    /** Process id; they come back. */
    final int pid;

    /** As in the manifest: the package, or {@code package:name}. */
    final String process;

    /** System.currentTimeMillis of the end. */
    final long timeMs;

    /** ApplicationExitInfo.REASON_*. */
    final int reason;

    /** The signal or exit code that it ended by. */
    final int status;

    /** The system's own words, "user request after error: Input dispatching timed out ..."; null for none. */
    final String description;

    Exit(int pid, String process, long timeMs, int reason, int status, String description) {
        this.pid = pid;
        this.process = process;
        this.timeMs = timeMs;
        this.reason = reason;
        this.status = status;
        this.description = description;
    }
}
