package android.content.res;

import android.util.DisplayMetrics;

/** The system's resources, with only the density of the display: 320 pixels an inch. */
public class Resources {
    private static final Resources SYSTEM = new Resources();

    private final DisplayMetrics metrics = new DisplayMetrics();

    private Resources() {
        metrics.setToDefaults();
        metrics.density = (float) DisplayMetrics.DENSITY_XHIGH / DisplayMetrics.DENSITY_DEFAULT;
    }

    public static Resources getSystem() { return SYSTEM; }

    public DisplayMetrics getDisplayMetrics() { return metrics; }
    public Configuration getConfiguration() { return new Configuration(); }
}
