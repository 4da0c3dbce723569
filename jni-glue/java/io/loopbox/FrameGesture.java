// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox;

/** One scroll: from the finger's touch, or the first frame that scrolled, until the fling has ended. */
public final class FrameGesture {
    private static final double NANOS_PER_MS = 1e6;
    private static final double NANOS_PER_S = 1e9;
    private static final double MICROS_PER_MS = 1e3;
    private static final double MS_PER_S = 1e3;

    /** As in loopbox-format. */
    private static final int FINGER = 1 << 1;

    private final long[] values;

    /** @param values as the native side passes them (report/frames.rs) */
    FrameGesture(long[] values) {
        this.values = values;
    }

    /** When it began, uptime in milliseconds. */
    public double beginMs() {
        return values[0] / NANOS_PER_MS;
    }

    /** How long it took, its fling included. */
    public long durationMs() {
        return values[1];
    }

    /** For how long the finger was down. */
    public long fingerMs() {
        return values[2];
    }

    /** For how long it went on without the finger. */
    public long flingMs() {
        return values[3];
    }

    /** How many frames scrolled. */
    public int frames() {
        return (int) values[4];
    }

    /** Frames per second while it scrolled. */
    public double fps() {
        return values[5] == 0 ? 0 : values[4] * NANOS_PER_S / values[5];
    }

    /** How long frames stood too long, in whole refreshes: milliseconds for each second of scrolling. */
    public double hitchMsPerSecond() {
        return values[5] == 0 ? 0 : MS_PER_S * values[6] / values[5];
    }

    /** How long the longest frame stood. */
    public double longestMs() {
        return values[7] / MICROS_PER_MS;
    }

    /** Frames that stood for more than 700 ms. */
    public int frozenFrames() {
        return (int) values[8];
    }

    /** How many stretches of it were below five sixths of the refresh rate. */
    public int jankWindows() {
        return (int) values[9];
    }

    /** Which one it is on its screen, from 1. */
    public int ordinal() {
        return (int) values[10];
    }

    /** Whether a finger caused it; false, too, where {@link FrameConfig.Builder#touch} is off. */
    public boolean finger() {
        return (values[11] & FINGER) != 0;
    }
}
