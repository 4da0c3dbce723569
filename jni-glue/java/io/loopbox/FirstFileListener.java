// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox;

import androidx.annotation.NonNull;
import androidx.annotation.WorkerThread;

/**
 * A {@link Listener} that is notified of a report as soon as there is a file, too: for what must be done
 * before the system ends the process, as setting a crash SDK's keys. A separate interface, and not a
 * default method of the other: only who wants to be notified of it is called, and {@link Listener} stays one
 * that a lambda may be.
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
