// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox;

import androidx.annotation.NonNull;
import androidx.annotation.WorkerThread;

/** Called with each report that was written. */
public interface Listener {
    /**
     * Called when a report is complete, on a separate thread, for one report after the other. Neither the
     * recorder nor another listener waits for it. At an ANR the process may be gone a moment later: leave
     * sending for the next launch ({@link Loopbox#takePendingReports}) and keep this short. {@link
     * FirstFileListener} is notified sooner.
     *
     * <p>Called again for the same file when there is more in it: the hang is over and has its full duration,
     * or the system has reported that it was an ANR. A file that is gone by then stays gone.
     *
     * @param report the file and what is in it. The listeners of the configuration own the file and may move
     *     or delete it. A listener that {@link Loopbox#addListener} has added must leave it where it is
     */
    @WorkerThread
    void onReport(@NonNull Report report);
}
