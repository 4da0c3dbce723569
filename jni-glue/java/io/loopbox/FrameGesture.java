// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox;

/** One scroll: from the finger's touch, or the first frame that scrolled, until the fling has ended. */
public final class FrameGesture {
    private static final double NANOS_PER_MS = 1e6;
    private static final double NANOS_PER_S = 1e9;
    private static final double MICROS_PER_MS = 1e3;
    private static final double MS_PER_S = 1e3;

    /** The flag of a scroll that a finger caused, as in loopbox-format. */
    private static final int FINGER = 1 << 1;

    private final long[] values;

    /** @param values as the native side passes them (monitor/display_frames.rs) */
    FrameGesture(long[] values) {
        this.values = values;
    }

    /** When it began, uptime in milliseconds. */
    public double getBeginMs() {
        return values[0] / NANOS_PER_MS;
    }

    /** How long it took, its fling included. */
    public long getDurationMs() {
        return values[1];
    }

    /** For how long the finger was down. */
    public long getFingerMs() {
        return values[2];
    }

    /** For how long it went on without the finger. */
    public long getFlingMs() {
        return values[3];
    }

    /** How many frames scrolled. */
    public int getFrames() {
        return (int) values[4];
    }

    /** Frames per second while it scrolled. */
    public double getFps() {
        return values[5] == 0 ? 0 : values[4] * NANOS_PER_S / values[5];
    }

    /**
     * The hitch rate: how long frames stayed on the display after their first refresh, in milliseconds per
     * second of scrolling. Of each frame's extra time only whole refreshes count.
     */
    public double getHitchMsPerSecond() {
        return values[5] == 0 ? 0 : MS_PER_S * values[6] / values[5];
    }

    /** How long the longest frame was shown. */
    public double getLongestMs() {
        return values[7] / MICROS_PER_MS;
    }

    /** Frames that were shown for more than 700 ms. */
    public int getFrozenFrames() {
        return (int) values[8];
    }

    /** How many parts of the gesture were below five sixths of the refresh rate. */
    public int getJankWindows() {
        return (int) values[9];
    }

    /** The number of the gesture on its screen, from 1. */
    public int getOrdinal() {
        return (int) values[10];
    }

    /** Whether a finger caused it; false, too, where {@link FrameConfig.Builder#touch} is off. */
    public boolean isByFinger() {
        return (values[11] & FINGER) != 0;
    }
}
