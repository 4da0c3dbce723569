package android.view;

import android.hardware.display.DisplayManagerGlobal;

/** The display's clock, which tests can set. The host program has the native methods. */
public final class TestVsync {
    private TestVsync() {}

    /**
     * Sets the time between two refreshes of the display, from the next refresh on. A Choreographer reads
     * this time once, when the Choreographer is made.
     */
    public static native void setPeriodNanos(long period);

    public static native long periodNanos();

    /** Sets the period as the system does it: listeners of the display are notified, too. */
    public static void switchTo(long period) {
        setPeriodNanos(period);
        DisplayManagerGlobal.getInstance().testDisplayChanged();
    }

    /** How often a refresh was requested. A frame clock that never stops shows in this number. */
    public static native long scheduled();

    /**
     * Sets the times of the frames to come. Each request for a refresh is answered at once with the next of
     * these times. When none is left, the display's own clock answers. Choreographer changes a
     * time that is more than one period in the past, so a test that needs exact times sets a long period
     * before the Choreographer is made.
     */
    public static native void setScript(long[] frameTimesNanos);
}
