// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox;

import androidx.annotation.NonNull;

/** The frames of a fifth of a second. */
public final class FrameWindow {
    /**
     * How many frames were dropped because of the longest frame, as a level. The limits are those of Matrix,
     * as times: 50, 150, 400 and 700 ms of dropped frames.
     */
    public enum Level {
        BEST,
        NORMAL,
        MIDDLE,
        HIGH,
        FROZEN
    }

    private static final double NANOS_PER_MS = 1e6;
    private static final double MILLI = 1e3;

    private final long[] values;
    private final String scene;
    private final int missed;

    /** @param values as the native side passes them (monitor/display_frames.rs) */
    FrameWindow(long[] values, String scene, int missed) {
        this.values = values;
        this.scene = scene;
        this.missed = missed;
    }

    /** Frames per second. */
    public double getFps() {
        return values[0] / MILLI;
    }

    /** How many frames the display would have shown in a second. */
    public double getRefreshRate() {
        return values[1] / MILLI;
    }

    /** How long the longest frame was shown, in milliseconds. */
    public double getLongestMs() {
        return values[2] / NANOS_PER_MS;
    }

    /** The level of the longest frame. */
    @NonNull
    public Level getLevel() {
        Level[] levels = Level.values();
        return levels[(int) Math.min(Math.max(values[3], 0), levels.length - 1)];
    }

    /** How many frames the window has. */
    public int getFrames() {
        return (int) values[4];
    }

    /** The screen; empty when it is not known. */
    @NonNull
    public String getScene() {
        return scene;
    }

    /**
     * How many calls of the listener were left out since the last call for a window. A call for a window is
     * left out while another call waits or runs. A call for a gesture or for skipped frames is left out while
     * 64 calls wait or run.
     */
    public int getMissed() {
        return missed;
    }
}
