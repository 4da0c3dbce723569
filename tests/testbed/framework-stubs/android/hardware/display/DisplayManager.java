package android.hardware.display;

import android.content.Context;
import android.os.Handler;
import android.view.Display;

/** What an app asks of the only display. */
public final class DisplayManager {
    /** The platform's type, as far as a testbed needs it. */
    public interface DisplayListener {
        void onDisplayAdded(int displayId);

        void onDisplayRemoved(int displayId);

        void onDisplayChanged(int displayId);
    }

    public DisplayManager(Context context) {}

    public Display getDisplay(int displayId) {
        return displayId == Display.DEFAULT_DISPLAY ? Display.testDefault() : null;
    }


    public void registerDisplayListener(DisplayListener listener, Handler handler) {
        DisplayManagerGlobal.getInstance().register(listener, handler);
    }

    public void unregisterDisplayListener(DisplayListener listener) {
        DisplayManagerGlobal.getInstance().unregister(listener);
    }
}
