// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.testing;

import androidx.annotation.NonNull;
import io.loopbox.FrameGesture;
import io.loopbox.TestValues;

/**
 * Makes a {@link FrameGesture}. By default it is a scroll by a finger; it takes half a second and has 30
 * frames, all in time. Works with loopbox and with loopbox-noop.
 */
public final class FrameGestureBuilder {
    private static final double NANOS_PER_MS = 1e6;
    private static final double MICROS_PER_MS = 1e3;
    private static final double MS_PER_S = 1e3;

    /** The flag of a gesture by a finger, as in loopbox-format. */
    private static final long FINGER = 1 << 1;

    private double beginMs;
    private long durationMs = 500;
    private long fingerMs = 300;
    private long flingMs = 200;
    private int frames = 30;
    private double hitchMsPerSecond;
    private double longestMs = 16;
    private int frozenFrames;
    private int jankWindows;
    private int ordinal = 1;
    private boolean byFinger = true;

    /** Sets when the gesture began, as uptime in milliseconds. */
    @NonNull
    public FrameGestureBuilder beginMs(double beginMs) {
        this.beginMs = beginMs;
        return this;
    }

    /**
     * Sets the duration of the gesture. There were frames during all of it, so the frames per second follow
     * from this duration and {@link #frames}.
     */
    @NonNull
    public FrameGestureBuilder durationMs(long durationMs) {
        this.durationMs = durationMs;
        return this;
    }

    @NonNull
    public FrameGestureBuilder fingerMs(long fingerMs) {
        this.fingerMs = fingerMs;
        return this;
    }

    @NonNull
    public FrameGestureBuilder flingMs(long flingMs) {
        this.flingMs = flingMs;
        return this;
    }

    @NonNull
    public FrameGestureBuilder frames(int frames) {
        this.frames = frames;
        return this;
    }

    @NonNull
    public FrameGestureBuilder hitchMsPerSecond(double hitchMsPerSecond) {
        this.hitchMsPerSecond = hitchMsPerSecond;
        return this;
    }

    @NonNull
    public FrameGestureBuilder longestMs(double longestMs) {
        this.longestMs = longestMs;
        return this;
    }

    @NonNull
    public FrameGestureBuilder frozenFrames(int frozenFrames) {
        this.frozenFrames = frozenFrames;
        return this;
    }

    @NonNull
    public FrameGestureBuilder jankWindows(int jankWindows) {
        this.jankWindows = jankWindows;
        return this;
    }

    /** Sets the number of the gesture on its screen, counted from 1. */
    @NonNull
    public FrameGestureBuilder ordinal(int ordinal) {
        this.ordinal = ordinal;
        return this;
    }

    @NonNull
    public FrameGestureBuilder byFinger(boolean byFinger) {
        this.byFinger = byFinger;
        return this;
    }

    @NonNull
    public FrameGesture build() {
        return TestValues.frameGesture(values());
    }

    /** The values in the recorder's form. */
    long[] values() {
        double stoodNs = durationMs * NANOS_PER_MS;
        return new long[] {
            Math.round(beginMs * NANOS_PER_MS),
            durationMs,
            fingerMs,
            flingMs,
            frames,
            (long) stoodNs,
            Math.round(hitchMsPerSecond * stoodNs / MS_PER_S),
            Math.round(longestMs * MICROS_PER_MS),
            frozenFrames,
            jankWindows,
            ordinal,
            byFinger ? FINGER : 0,
        };
    }
}
