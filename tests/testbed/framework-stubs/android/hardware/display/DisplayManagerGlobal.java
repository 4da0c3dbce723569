package android.hardware.display;

import android.view.DisplayInfo;

/** There is one display; what Choreographer asks about it is how often it is refreshed. */
public final class DisplayManagerGlobal {
    private static final DisplayManagerGlobal INSTANCE = new DisplayManagerGlobal();

    private DisplayManagerGlobal() {}

    public static DisplayManagerGlobal getInstance() { return INSTANCE; }

    public DisplayInfo getDisplayInfo(int displayId) { return new DisplayInfo(); }
}
