// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal.recording;

import android.os.Trace;
import io.loopbox.internal.platform.MainLooper;

/**
 * The parts of an installation, as sections in a system trace of the app's start. Without a trace they cost
 * next to nothing.
 */
public final class InstallTrace {
    /** Whether a section is open. Used on the main thread only. */
    private static boolean isOpen;

    private InstallTrace() {}

    /** Ends the previous part and begins this one. */
    public static void part(String name) {
        if (MainLooper.isCurrent()) {
            end();
            Trace.beginSection(name);
            isOpen = true;
        }
    }

    /** Ends the last part. */
    public static void end() {
        if (isOpen && MainLooper.isCurrent()) {
            isOpen = false;
            Trace.endSection();
        }
    }
}
