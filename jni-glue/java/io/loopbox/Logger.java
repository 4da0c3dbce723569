// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox;

import androidx.annotation.NonNull;
import androidx.annotation.Nullable;
import androidx.annotation.WorkerThread;

/**
 * Takes the lines that the recorder's Java code would write to the system's log; see {@link
 * Config.Builder#logger}.
 */
public interface Logger {
    /**
     * Called on a separate thread, for one line after the other. No thread waits for it, no lock of the
     * recorder is held, and exceptions from it go to the system's log. When more than 64 lines wait, the
     * newest are left out, and counted in a separate line. Lines that the recorder logs because of this call
     * go to the system's log. Waiting lines are lost when the process ends.
     *
     * @param priority {@code Log.ERROR} for a fault of the recorder's own code, or of a listener or other
     *     code of the app that it has called: the fault is kept from the app; {@code Log.INFO} or {@code
     *     Log.WARN} for everything else
     * @param line without a tag
     * @param fault the exception that the line is about, or null
     */
    @WorkerThread
    void log(int priority, @NonNull String line, @Nullable Throwable fault);
}
