// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox;

import androidx.annotation.Nullable;
import androidx.annotation.WorkerThread;

/** Called once with the report that {@link Loopbox#dumpAsync} was asked for. */
public interface DumpCallback {
    /**
     * Called after {@link Listener}, on the same thread, or on another one when nothing records; never on the
     * thread that made the request.
     *
     * @param report the file and what is in it; null when none was written: the disk is full, or the recorder
     *     is off
     */
    @WorkerThread
    void onDumped(@Nullable Report report);
}
