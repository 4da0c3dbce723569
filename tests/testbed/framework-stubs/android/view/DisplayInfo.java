package android.view;

/** The facts about the display that Choreographer reads once, when it is made. */
public final class DisplayInfo {
    /** The refresh rate as API 21 and 22 read it. */
    public final float refreshRate = getRefreshRate();

    public float getRefreshRate() { return Display.refreshRate(); }

    public Display.Mode getMode() { return new Display.Mode(Display.refreshRate()); }
}
