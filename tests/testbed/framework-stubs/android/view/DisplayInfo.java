package android.view;

/** What Choreographer asks, once, when it is made. */
public final class DisplayInfo {
    public Display.Mode getMode() { return new Display.Mode(Display.refreshRate()); }
}
