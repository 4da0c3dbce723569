package android.view;

/** The only display; {@link TestVsync} says how often it is refreshed. */
public final class Display {
    public static final int DEFAULT_DISPLAY = 0;

    Display() {}

    public static Display testDefault() { return new Display(); }

    static float refreshRate() { return 1e9f / TestVsync.periodNanos(); }

    public int getDisplayId() { return DEFAULT_DISPLAY; }
    public float getRefreshRate() { return refreshRate(); }

    /** A mode of the display. */
    public static final class Mode {
        private final float refreshRate;

        Mode(float refreshRate) { this.refreshRate = refreshRate; }

        public float getRefreshRate() { return refreshRate; }
    }
}
