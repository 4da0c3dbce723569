// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox;

import android.view.Window;
import androidx.annotation.AnyThread;
import androidx.annotation.MainThread;
import androidx.annotation.NonNull;
import androidx.annotation.Nullable;
import androidx.annotation.WorkerThread;
import io.loopbox.internal.frames.FrameWatch;
import io.loopbox.internal.platform.Faults;
import io.loopbox.internal.recording.Native;

/**
 * The app's access to the recording of display frames. Its methods do nothing where {@link
 * Config.Builder#frames} is not given. See {@link Loopbox#frames}. No method throws.
 */
public final class Frames {
    Frames() {}

    /**
     * Marks the begin of an animation that is not a scroll. Until {@link #end}, ten seconds at most, its
     * frames count as those of a screen with this name. Any thread; takes effect on the main thread.
     */
    @AnyThread
    public void begin(@NonNull final String name) {
        onMain(
                new Runnable() {
                    @Override
                    public void run() {
                        FrameWatch.begin(name);
                    }
                });
    }

    /**
     * Marks the end of the animation with this name; others continue. Any thread; takes effect on the main
     * thread.
     */
    @AnyThread
    public void end(@NonNull final String name) {
        onMain(
                new Runnable() {
                    @Override
                    public void run() {
                        FrameWatch.end(name);
                    }
                });
    }

    /**
     * Makes the frames of this window count, for example of a Dialog. Windows of Activities count without
     * this call. Main thread.
     */
    @MainThread
    public void watch(@Nullable Window window) {
        try {
            FrameWatch.watch(window);
        } catch (Throwable fault) {
            Faults.log(fault);
        }
    }

    /**
     * Stops counting the frames of this window. There is no need to call it for a window that is gone. Main
     * thread.
     */
    @MainThread
    public void forget(@Nullable Window window) {
        try {
            FrameWatch.forget(window);
        } catch (Throwable fault) {
            Faults.log(fault);
        }
    }

    /**
     * The figures since the recorder was installed, or since {@link #reset}. They are a copy, which is at
     * most a fifth of a second behind the display. Where frames are not recorded, the copy has none. Not on
     * the main thread: the call waits for the thread that counts.
     */
    @WorkerThread
    @NonNull
    public FrameStats snapshot() {
        return new FrameStats(stats(false));
    }

    /**
     * Resets the figures, for example at the start of what is to be measured. The figures that reports and
     * the next launch would have are reset, too; a gesture in progress is forgotten. Not on the main thread.
     */
    @WorkerThread
    public void reset() {
        stats(true);
    }

    private static String stats(boolean forgets) {
        try {
            String lines = FrameWatch.isOn() ? Native.frameStats(forgets) : null;
            return lines == null ? "" : lines;
        } catch (Throwable fault) {
            Faults.log(fault);
            return "";
        }
    }

    private static void onMain(Runnable what) {
        try {
            if (FrameWatch.isOn()) {
                Loopbox.onMain(what);
            }
        } catch (Throwable fault) {
            Faults.log(fault);
        }
    }
}
