// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox;

import android.view.Window;
import androidx.annotation.AnyThread;
import androidx.annotation.MainThread;
import androidx.annotation.NonNull;
import androidx.annotation.Nullable;
import androidx.annotation.WorkerThread;

/** The replacement for the recorder of frames: does nothing. */
public final class Frames {
    Frames() {}

    /** Does nothing. */
    @AnyThread
    public void begin(@NonNull String name) {}

    /** Does nothing. */
    @AnyThread
    public void end(@NonNull String name) {}

    /** Does nothing. */
    @MainThread
    public void watch(@Nullable Window window) {}

    /** Does nothing. */
    @MainThread
    public void forget(@Nullable Window window) {}

    /** Returns figures without a frame. */
    @WorkerThread
    @NonNull
    public FrameStats snapshot() {
        return new FrameStats("");
    }

    /** Does nothing. */
    @WorkerThread
    public void reset() {}
}
