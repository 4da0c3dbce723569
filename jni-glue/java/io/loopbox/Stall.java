// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox;

import androidx.annotation.NonNull;

/** A message of the main thread that took long. */
public final class Stall {
    private final int level;
    private final double wallMs;
    private final long startUptimeMs;
    private final long startTimeMs;
    private final String message;
    private final String scene;
    private final String stack;
    private final String json;

    Stall(
            int level,
            double wallMs,
            long startUptimeMs,
            long startTimeMs,
            String message,
            String scene,
            String stack,
            String json) {
        this.level = level;
        this.wallMs = wallMs;
        this.startUptimeMs = startUptimeMs;
        this.startTimeMs = startTimeMs;
        this.message = message;
        this.scene = scene;
        this.stack = stack;
        this.json = json;
    }

    /**
     * The level of the stall: how many of the limits in {@link MonitorConfig.Builder#levelsMs} it exceeded,
     * at least 1.
     */
    public int getLevel() {
        return level;
    }

    /** How long it took. */
    public double getWallMs() {
        return wallMs;
    }

    /** When it began, as in SystemClock.uptimeMillis. */
    public long getStartUptimeMs() {
        return startUptimeMs;
    }

    /** When it began, as in System.currentTimeMillis. */
    public long getStartTimeMs() {
        return startTimeMs;
    }

    /** Class names of its Handler and callback, and its code; empty when no name is known. */
    @NonNull
    public String getMessage() {
        return message;
    }

    /** The last value of {@link Loopbox#scene}; empty when there is none. */
    @NonNull
    public String getScene() {
        return scene;
    }

    /**
     * The stack that was sampled most often during it, a line for each frame, top first; empty when none was
     * taken.
     */
    @NonNull
    public String getStack() {
        return stack;
    }

    /** The line about this stall in the file, without the line's end. */
    @NonNull
    public String getJson() {
        return json;
    }

    @Override
    public String toString() {
        return json;
    }
}
