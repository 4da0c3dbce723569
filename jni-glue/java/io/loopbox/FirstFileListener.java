// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox;

import androidx.annotation.NonNull;
import androidx.annotation.WorkerThread;

/**
 * A {@link Listener} that is also notified as soon as a report has a file: for what must be done before the
 * system ends the process, for example setting a crash SDK's keys. It is a separate interface, not a default
 * method of {@link Listener}: so only listeners that want it are called, and {@link Listener} can be a
 * lambda.
 */
public interface FirstFileListener extends Listener {
    /**
     * Called as {@link #onReport} is, with a file that has the main thread's history, stacks and digest
     * already, but not the pending queue, locks and other threads. {@link #onReport} follows with the same
     * file, some milliseconds or up to some seconds later, or never when the process is ended before. Not
     * called for "recovered" reports, which are complete.
     *
     * @param report the file and what is in it; leave the file where it is, or it is not completed
     */
    @WorkerThread
    void onFirstFile(@NonNull Report report);
}
