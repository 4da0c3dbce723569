// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.testing;

import androidx.annotation.NonNull;
import io.loopbox.FrameWindow;
import io.loopbox.TestValues;

/**
 * Makes a {@link FrameWindow}; by default twelve frames of a display of 60 Hz, all in time. Works with
 * loopbox and with loopbox-noop.
 */
public final class FrameWindowBuilder {
    private static final double NANOS_PER_MS = 1e6;
    private static final double MILLI = 1e3;

    private double fps = 60;
    private double refreshRate = 60;
    private double longestMs = 16;
    private FrameWindow.Level level = FrameWindow.Level.BEST;
    private int frames = 12;
    private String scene = "";
    private int missed;

    @NonNull
    public FrameWindowBuilder fps(double fps) {
        this.fps = fps;
        return this;
    }

    @NonNull
    public FrameWindowBuilder refreshRate(double refreshRate) {
        this.refreshRate = refreshRate;
        return this;
    }

    @NonNull
    public FrameWindowBuilder longestMs(double longestMs) {
        this.longestMs = longestMs;
        return this;
    }

    /** Sets the level. It does not follow from {@link #longestMs}. */
    @NonNull
    public FrameWindowBuilder level(@NonNull FrameWindow.Level level) {
        this.level = Text.given(level, "level");
        return this;
    }

    @NonNull
    public FrameWindowBuilder frames(int frames) {
        this.frames = frames;
        return this;
    }

    @NonNull
    public FrameWindowBuilder scene(@NonNull String scene) {
        this.scene = Text.given(scene, "scene");
        return this;
    }

    @NonNull
    public FrameWindowBuilder missed(int missed) {
        this.missed = missed;
        return this;
    }

    @NonNull
    public FrameWindow build() {
        long[] values = {
            Math.round(fps * MILLI),
            Math.round(refreshRate * MILLI),
            Math.round(longestMs * NANOS_PER_MS),
            level.ordinal(),
            frames,
        };
        return TestValues.frameWindow(values, scene, missed);
    }
}
