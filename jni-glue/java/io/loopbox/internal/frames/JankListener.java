// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal.frames;

import android.os.Handler;
import android.view.AttachedSurfaceControl;
import android.view.SurfaceControl;
import android.view.Window;
import io.loopbox.internal.platform.Faults;
import io.loopbox.internal.platform.Platform;
import io.loopbox.internal.platform.RecorderLog;
import io.loopbox.internal.recording.Native;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Passes on what the compositor reports of the frames of a window: in batches, some time after they were
 * shown. A separate class, because Android below 16 cannot load it.
 */
final class JankListener implements SurfaceControl.OnJankDataListener, Executor {
    private static final long AT_ONCE = 0;
    private static final String CALLBACK = "onJankDataAvailable";

    /**
     * How many batches wait at most. They wait when the app's listener of frames, which is called on the same
     * thread, does not return.
     */
    private static final int MOST_WAITING = 64;

    private final Handler handler;
    private final AtomicInteger waiting = new AtomicInteger();
    private SurfaceControl.OnJankDataListenerRegistration registration;
    private boolean failed;

    private JankListener(Handler handler) {
        this.handler = handler;
    }

    /**
     * Adds a listener to a window that is shown. Main thread.
     *
     * @return null when the window cannot have one
     */
    static JankListener add(Window window, Handler handler) {
        try {
            AttachedSurfaceControl root = window.getRootSurfaceControl();
            if (root == null) {
                Native.setFrames(Native.JANKS, false, "the window has no surface");
                return null;
            }
            JankListener listener = new JankListener(handler);
            if (!Platform.has(listener, void.class, CALLBACK, List.class)) {
                Native.setFrames(Native.JANKS, false, Platform.missing(CALLBACK, "JankListener"));
                return null;
            }
            listener.registration = root.registerOnJankDataListener(listener, listener);
            Native.setFrames(Native.JANKS, true, "JankData");
            return listener;
        } catch (RuntimeException refused) {
            Native.setFrames(Native.JANKS, false, String.valueOf(refused));
            return null;
        }
    }

    void remove() {
        try {
            registration.removeAfter(AT_ONCE);
        } catch (RuntimeException gone) {
            RecorderLog.info("JankData: " + gone);
        }
    }

    @Override
    public void execute(final Runnable command) {
        if (waiting.get() >= MOST_WAITING) {
            return;
        }
        waiting.incrementAndGet();
        handler.post(
                new Runnable() {
                    @Override
                    public void run() {
                        waiting.decrementAndGet();
                        command.run();
                    }
                });
    }

    @Override
    public void onJankDataAvailable(List<SurfaceControl.JankData> jankData) {
        try {
            if (failed) {
                return;
            }
            for (SurfaceControl.JankData data : jankData) {
                Native.jankType(data.getVsyncId(), data.getJankType());
            }
        } catch (Throwable fault) {
            failed = true;
            Native.setFrames(Native.JANKS, false, Faults.text(fault));
        }
    }
}
