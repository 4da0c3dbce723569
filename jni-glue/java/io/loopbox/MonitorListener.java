// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox;

import androidx.annotation.NonNull;
import androidx.annotation.WorkerThread;

/** Is notified of main-thread stalls, on the monitor's thread, which writes nothing during the call. */
public interface MonitorListener {
    /**
     * Called when a message has run for as long as {@link MonitorConfig.Builder#blockMs} says; it may run on.
     *
     * @param ageMs how old the message was when the stack was taken
     * @param stack the main thread's stack at that age: one line for each frame, top first, as in the stack
     *     trace of an exception
     */
    @WorkerThread
    void onBlock(long ageMs, @NonNull String stack);

    /**
     * Called when a message that took longer than the lowest level has ended. Its line is in the file of the
     * day, where that could be written.
     */
    @WorkerThread
    void onStall(@NonNull Stall stall);
}
