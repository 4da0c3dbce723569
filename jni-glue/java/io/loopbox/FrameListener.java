// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox;

import androidx.annotation.NonNull;
import androidx.annotation.WorkerThread;

/**
 * Is notified of frames while they come. All calls are on a separate thread, one after the other, and no
 * thread waits for them. A {@link FrameWindow} that ends while a call waits or runs is left out. The calls
 * for gestures and skipped frames wait; they are left out while 64 calls wait or run. {@link
 * FrameWindow#getMissed} counts what was left out.
 */
public interface FrameListener {
    /** Called for each 200 ms of counted frames; not while nothing moves. */
    @WorkerThread
    void onWindow(@NonNull FrameWindow window);

    /** Called when a scroll has ended, with the fling that followed it. */
    @WorkerThread
    void onGesture(@NonNull FrameGesture gesture);

    /**
     * Called when one stall has dropped frames for at least half a second. At 60 Hz this is 30 frames, and
     * the platform logs "Skipped N frames!" from 30 frames on. {@link FrameConfig.Builder#skippedFrames} can
     * set another number.
     *
     * @param scene the screen; empty when it is not known
     */
    @WorkerThread
    void onSkippedFrames(int frames, @NonNull String scene);
}
