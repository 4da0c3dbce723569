// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox;

import androidx.annotation.NonNull;
import androidx.annotation.WorkerThread;

/**
 * Is notified of frames while they come. All calls are on a separate thread, one after the other, and no
 * thread waits for them. While a call runs or waits, windows are left out; gestures and skipped frames wait,
 * and are left out while 64 calls run or wait. {@link FrameWindow#getMissed} counts what was left out.
 */
public interface FrameListener {
    /** Called for each 200 ms of counted frames; not while nothing moves. */
    @WorkerThread
    void onWindow(@NonNull FrameWindow window);

    /** Called when a scroll has ended, with the fling that followed it. */
    @WorkerThread
    void onGesture(@NonNull FrameGesture gesture);

    /**
     * Called when one stall has dropped as many frames as the platform logs "Skipped N frames!" for: half a
     * second of frames, unless {@link FrameConfig.Builder#skippedFrames} sets another number.
     *
     * @param scene the screen; empty when it is not known
     */
    @WorkerThread
    void onSkippedFrames(int frames, @NonNull String scene);
}
