// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal;

import android.os.Trace;

/** The parts of an installation, as sections of a system trace of the app's start. They cost next to nothing without one. */
public final class InstallTrace {
    /** Main thread. */
    private static boolean isOpen;

    private InstallTrace() {}

    /** The part before it ends. */
    public static void part(String name) {
        if (Recorder.onMainThread()) {
            end();
            Trace.beginSection(name);
            isOpen = true;
        }
    }

    /** The last part ends. */
    public static void end() {
        if (isOpen && Recorder.onMainThread()) {
            isOpen = false;
            Trace.endSection();
        }
    }
}
