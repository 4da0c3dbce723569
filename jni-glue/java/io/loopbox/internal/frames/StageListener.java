// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal.frames;

import android.os.Handler;
import android.view.FrameMetrics;
import android.view.View;
import android.view.Window;
import io.loopbox.internal.platform.Faults;
import io.loopbox.internal.platform.RecorderLog;
import io.loopbox.internal.recording.Native;

/**
 * Passes on what the platform reports of each frame that a window has drawn. A separate class, because
 * Android below 7 cannot load it.
 */
final class StageListener implements Window.OnFrameMetricsAvailableListener {
    /**
     * How many constants FrameMetrics has, up to Android 16. A level that does not know one returns -1 for
     * it.
     */
    private static final int METRICS = 15;

    private static final int WINDOW = METRICS;
    private static final int LOST = METRICS + 1;

    /** The metrics of one frame. The array is filled again for each frame; the native side copies it. */
    private final long[] values = new long[METRICS + 2];

    private boolean failed;

    private StageListener() {}

    /** Adds a listener to a window that is shown. Main thread. */
    static StageListener add(Window window, View decor, Handler handler) {
        if (!decor.isHardwareAccelerated()) {
            // The platform would log this and do nothing, or throw when it is removed.
            Native.setFrames(Native.STAGES, false, "the window is not drawn by the render thread");
            return null;
        }
        StageListener listener = new StageListener();
        window.addOnFrameMetricsAvailableListener(listener, handler);
        Native.setFrames(Native.STAGES, true, "FrameMetrics");
        return listener;
    }

    /**
     * Removes the listener from the window. The platform throws when it has already removed it; that is only
     * logged.
     */
    void remove(Window window) {
        try {
            window.removeOnFrameMetricsAvailableListener(this);
        } catch (RuntimeException gone) {
            RecorderLog.info("FrameMetrics: " + gone);
        }
    }

    @Override
    public void onFrameMetricsAvailable(Window window, FrameMetrics metrics, int dropCountSinceLastInvocation) {
        try {
            if (failed) {
                return;
            }
            for (int id = 0; id < METRICS; id++) {
                values[id] = metrics.getMetric(id);
            }
            values[WINDOW] = System.identityHashCode(window);
            values[LOST] = dropCountSinceLastInvocation;
            Native.stages(values);
        } catch (Throwable fault) {
            failed = true;
            Native.setFrames(Native.STAGES, false, Faults.text(fault));
        }
    }
}
