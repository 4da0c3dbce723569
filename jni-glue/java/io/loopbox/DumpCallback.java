// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox;

import androidx.annotation.Nullable;
import androidx.annotation.WorkerThread;

/** Called once with the report that {@link Loopbox#dumpAsync} was asked for. */
public interface DumpCallback {
    /**
     * Called after the {@link Listener}s, for which it waits two seconds at most. The call comes on a
     * separate thread, never on the thread that made the request. Only a process that can make no more
     * threads gets it on the main thread.
     *
     * @param report the file and what is in it; null when none was written: the disk is full, or the recorder
     *     is off
     */
    @WorkerThread
    void onDumped(@Nullable Report report);
}
