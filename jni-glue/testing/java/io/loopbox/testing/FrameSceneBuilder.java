// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.testing;

import androidx.annotation.NonNull;
import io.loopbox.FrameStats;

/**
 * The frames of one screen, for {@link FrameStatsBuilder}; by default ten seconds with 600 frames in time, on
 * a display of 60 Hz.
 */
public final class FrameSceneBuilder {
    private static final double NANOS_PER_MS = 1e6;
    private static final double NANOS_PER_S = 1e9;
    private static final double MICROS_PER_MS = 1e3;
    private static final double MS_PER_S = 1e3;

    private final StringBuilder causes = new StringBuilder();
    private int frames = 600;
    private double durationMs = 10_000;
    private double refreshRate = 60;
    private double hitchMsPerSecond;
    private double longestMs = 16;
    private long droppedFrames;
    private int slowFrames;
    private int frozenFrames;
    private int jankWindows;
    private int gestures;
    private int scrolledFrames;
    private double scrolledMs;
    private double scrollHitchMsPerSecond;
    private int lostReports;

    /**
     * Sets the number of frames. Frames per second follow from this and {@link #durationMs}. A screen needs
     * at least one frame.
     */
    @NonNull
    public FrameSceneBuilder frames(int frames) {
        this.frames = frames;
        return this;
    }

    @NonNull
    public FrameSceneBuilder durationMs(double durationMs) {
        this.durationMs = durationMs;
        return this;
    }

    /** Sets the refresh rate in Hz, which was the same all the time. */
    @NonNull
    public FrameSceneBuilder refreshRate(double refreshRate) {
        if (!(refreshRate > 0)) {
            throw new IllegalArgumentException("a refresh rate of " + refreshRate);
        }
        this.refreshRate = refreshRate;
        return this;
    }

    @NonNull
    public FrameSceneBuilder hitchMsPerSecond(double hitchMsPerSecond) {
        this.hitchMsPerSecond = hitchMsPerSecond;
        return this;
    }

    @NonNull
    public FrameSceneBuilder longestMs(double longestMs) {
        this.longestMs = longestMs;
        return this;
    }

    @NonNull
    public FrameSceneBuilder droppedFrames(long droppedFrames) {
        this.droppedFrames = droppedFrames;
        return this;
    }

    @NonNull
    public FrameSceneBuilder slowFrames(int slowFrames) {
        this.slowFrames = slowFrames;
        return this;
    }

    @NonNull
    public FrameSceneBuilder frozenFrames(int frozenFrames) {
        this.frozenFrames = frozenFrames;
        return this;
    }

    @NonNull
    public FrameSceneBuilder jankWindows(int jankWindows) {
        this.jankWindows = jankWindows;
        return this;
    }

    @NonNull
    public FrameSceneBuilder gestures(int gestures) {
        this.gestures = gestures;
        return this;
    }

    /**
     * Sets the figures of the scrolled part: how many frames it had, how long these were shown, and its hitch
     * rate.
     */
    @NonNull
    public FrameSceneBuilder scrolled(int frames, double durationMs, double hitchMsPerSecond) {
        scrolledFrames = frames;
        scrolledMs = durationMs;
        scrollHitchMsPerSecond = hitchMsPerSecond;
        return this;
    }

    @NonNull
    public FrameSceneBuilder lostReports(int lostReports) {
        this.lostReports = lostReports;
        return this;
    }

    /**
     * Adds to {@link FrameStats.Scene#getCauses}: {@code frames} slow frames had the main cause {@code name}.
     */
    @NonNull
    public FrameSceneBuilder cause(@NonNull String name, int frames) {
        causes.append('\t').append(Text.line(Text.given(name, "name")).replace('=', ' ')).append('=').append(frames);
        return this;
    }

    /** The line in the recorder's form. */
    String line(long kind, String name) {
        double stoodNs = durationMs * NANOS_PER_MS;
        double scrolledNs = scrolledMs * NANOS_PER_MS;
        long[] values = {
            kind,
            frames,
            (long) stoodNs,
            Math.round(frames * NANOS_PER_S / refreshRate),
            (long) stoodNs,
            Math.round(hitchMsPerSecond * stoodNs / MS_PER_S),
            Math.round(longestMs * MICROS_PER_MS),
            droppedFrames,
            slowFrames,
            frozenFrames,
            jankWindows,
            gestures,
            scrolledFrames,
            (long) scrolledNs,
            Math.round(scrollHitchMsPerSecond * scrolledNs / MS_PER_S),
            lostReports,
        };
        StringBuilder line = new StringBuilder();
        for (long value : values) {
            line.append(value).append('\t');
        }
        return line.append(Text.line(name)).append(causes).append('\n').toString();
    }
}
