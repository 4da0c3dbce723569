// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal.frames;

import android.content.Context;
import android.hardware.display.DisplayManager;
import android.os.Handler;
import android.os.Looper;
import android.view.Display;
import io.loopbox.internal.platform.App;
import io.loopbox.internal.platform.Faults;
import io.loopbox.internal.recording.Native;

/** Passes on the display's refresh rate, and each change of it. Main thread. */
final class RefreshRate implements DisplayManager.DisplayListener {
    private final DisplayManager displays;

    private RefreshRate(DisplayManager displays) {
        this.displays = displays;
    }

    /**
     * Begins to watch the rate of the default display. A DisplayManager keeps the Context that it comes from.
     * So it is taken from a Context that lives as long as the process, not from the given one.
     *
     * @return null without a Context, and where there is no DisplayManager
     */
    static RefreshRate watch(Context context) {
        Object service = context == null ? null : App.lasting(context).getSystemService(Context.DISPLAY_SERVICE);
        if (!(service instanceof DisplayManager)) {
            return null;
        }
        RefreshRate rate = new RefreshRate((DisplayManager) service);
        rate.displays.registerDisplayListener(rate, new Handler(Looper.getMainLooper()));
        rate.onDisplayChanged(Display.DEFAULT_DISPLAY);
        return rate;
    }

    void stop() {
        displays.unregisterDisplayListener(this);
    }

    @Override
    public void onDisplayChanged(int id) {
        try {
            Display display = id == Display.DEFAULT_DISPLAY ? displays.getDisplay(id) : null;
            if (display != null) {
                Native.refreshRate(display.getRefreshRate());
            }
        } catch (Throwable fault) {
            Faults.log(fault);
        }
    }

    @Override
    public void onDisplayAdded(int id) {}

    @Override
    public void onDisplayRemoved(int id) {}
}
