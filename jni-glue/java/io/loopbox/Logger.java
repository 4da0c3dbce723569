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
     * Called on a separate thread, for one line after the other: nothing waits for it, no lock of the
     * recorder is held, and what it throws goes to the system's log. Of more than 64 lines that wait the
     * newest are left out, and counted in a separate line. What it makes the recorder log itself goes to
     * the system's log. A process that ends takes along what waits.
     *
     * @param priority {@code Log.INFO} and {@code Log.WARN} for what is as it is; {@code Log.ERROR} for what
     *     is a fault, of the recorder's own code or of a listener or other code of the app that it has
     *     called, and is kept from the app
     * @param line without a tag
     * @param fault its exception, or null
     */
    @WorkerThread
    void log(int priority, @NonNull String line, @Nullable Throwable fault);
}
