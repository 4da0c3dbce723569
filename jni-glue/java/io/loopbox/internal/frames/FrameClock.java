// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal.frames;

import android.view.Choreographer;
import android.view.ViewTreeObserver;
import android.view.animation.AnimationUtils;
import io.loopbox.internal.hook.MainThread;
import io.loopbox.internal.platform.Faults;
import io.loopbox.internal.recording.Native;

/**
 * The frame callback. A view that scrolls and a named animation need it. While an animation runs, {@link
 * #doFrame} requests the next refresh. During a scroll, {@link #onScrollChanged} requests one in each frame.
 * Main thread.
 */
final class FrameClock implements Choreographer.FrameCallback, ViewTreeObserver.OnScrollChangedListener {
    private Choreographer choreographer;

    /** Whether nothing is counted. Windows still call this object then. */
    private boolean paused;

    @Override
    public void doFrame(long frameTimeNanos) {
        try {
            if (paused) {
                return;
            }
            if (MainThread.CRITICAL ? Native.frameCritical(frameTimeNanos) : Native.frame(frameTimeNanos)) {
                choreographer.postFrameCallback(this);
            } else {
                // The native side ends an animation that the app does not end.
                FrameWatch.clockStops();
            }
        } catch (Throwable fault) {
            fail(fault);
        }
    }

    @Override
    public void onScrollChanged() {
        try {
            // While a frame runs, the clock of animations stands at that frame's time.
            if (!paused && Native.scrolled(AnimationUtils.currentAnimationTimeMillis())) {
                ask();
            }
        } catch (Throwable fault) {
            fail(fault);
        }
    }

    /** Begins to request refreshes for an animation. Returns false where nothing is counted. */
    boolean begin() {
        if (paused) {
            return false;
        }
        if (Native.animate(true)) {
            ask();
        }
        return true;
    }

    /** Stops requesting refreshes for an animation. */
    void end() {
        Native.animate(false);
    }

    void setPaused(boolean pause) {
        paused = pause;
        if (pause && choreographer != null) {
            choreographer.removeFrameCallback(this);
            Native.stopFrames();
        }
    }

    private void ask() {
        if (choreographer == null) {
            choreographer = Choreographer.getInstance();
        }
        choreographer.postFrameCallback(this);
    }

    /** Stops counting after a fault in our code, which must not end the app's frame. */
    private void fail(Throwable fault) {
        paused = true;
        Faults.log(fault);
        Native.setFrames(Native.FRAMES, false, Faults.text(fault));
    }
}
