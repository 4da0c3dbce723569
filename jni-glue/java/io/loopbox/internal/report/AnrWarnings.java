// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal.report;

import io.loopbox.internal.platform.Background;
import io.loopbox.internal.platform.Framework;
import io.loopbox.internal.platform.WarningSink;
import io.loopbox.internal.recording.Gate;
import io.loopbox.internal.recording.Native;
import io.loopbox.internal.recording.Recording;

/**
 * The system's warnings of ANRs (Android 17 and newer), for as long as something is recorded. Not for the
 * main thread.
 */
public final class AnrWarnings {
    /** The gate of the recording that gets the warnings. Guarded by the class's lock. */
    private static Gate owner;

    private AnrWarnings() {}

    /** Registers for the system's warnings. Does nothing where the system has none. */
    public static synchronized void start(Framework framework) {
        final Gate gate = Recording.gate();
        owner = gate;
        framework.warnOfAnrs(
                new WarningSink() {
                    @Override
                    public void onWarning(int id, int type, long consumedMs, long timeoutMs) {
                        if (!gate.isClosed()) {
                            Native.warnOfAnr(id, type, consumedMs, timeoutMs);
                        }
                    }
                });
    }

    /**
     * Ends the warnings for the recording of this gate. Does so on a separate thread, because the main thread
     * calls this.
     */
    public static void stop(final Framework framework, final Gate gate) {
        Background.run(
                "loopbox-warnings",
                new Runnable() {
                    @Override
                    public void run() {
                        stopNow(framework, gate);
                    }
                });
    }

    private static synchronized void stopNow(Framework framework, Gate gate) {
        if (owner == gate) {
            owner = null;
            framework.warnOfAnrs(null);
        }
    }
}
