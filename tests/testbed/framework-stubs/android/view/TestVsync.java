package android.view;

import android.hardware.display.DisplayManagerGlobal;

/** The display's clock, which tests can set. The natives are the host program's. */
public final class TestVsync {
    private TestVsync() {}

    /**
     * The time between two refreshes of the display, from the next one on. A Choreographer reads it once,
     * when it is made.
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
     * The times of the frames to come: each request for a refresh is answered at once with the next of them,
     * and by the display's own clock when there is none left. Choreographer passes them on unchanged while
     * they are in the past by less than the period that it knows; so a test that needs exact times sets a
     * long period before the Choreographer is made.
     */
    public static native void setScript(long[] frameTimesNanos);
}
