package android.content.res;

import android.util.DisplayMetrics;

/** The system's: how large the display's pixels are. */
public class Resources {
    private static final Resources SYSTEM = new Resources();

    private final DisplayMetrics metrics = new DisplayMetrics();

    private Resources() {}

    public static Resources getSystem() { return SYSTEM; }

    public DisplayMetrics getDisplayMetrics() { return metrics; }
}
