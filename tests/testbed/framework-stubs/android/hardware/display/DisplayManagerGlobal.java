package android.hardware.display;

import android.os.Handler;
import android.view.Display;
import android.view.DisplayInfo;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** There is one display. Choreographer asks only how often it is refreshed. */
public final class DisplayManagerGlobal {
    private static final DisplayManagerGlobal INSTANCE = new DisplayManagerGlobal();

    private final Map<DisplayManager.DisplayListener, Handler> listeners =
            new ConcurrentHashMap<DisplayManager.DisplayListener, Handler>();

    private DisplayManagerGlobal() {}

    public static DisplayManagerGlobal getInstance() { return INSTANCE; }

    public DisplayInfo getDisplayInfo(int displayId) { return new DisplayInfo(); }

    void register(DisplayManager.DisplayListener listener, Handler handler) { listeners.put(listener, handler); }

    void unregister(DisplayManager.DisplayListener listener) { listeners.remove(listener); }

    /** Notifies all listeners of a change of the display, each through its own Handler. */
    public void testDisplayChanged() {
        for (Map.Entry<DisplayManager.DisplayListener, Handler> entry : listeners.entrySet()) {
            final DisplayManager.DisplayListener listener = entry.getKey();
            entry.getValue()
                    .post(
                            new Runnable() {
                                @Override
                                public void run() {
                                    listener.onDisplayChanged(Display.DEFAULT_DISPLAY);
                                }
                            });
        }
    }
}
