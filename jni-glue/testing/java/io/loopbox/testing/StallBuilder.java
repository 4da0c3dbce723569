// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.testing;

import androidx.annotation.NonNull;
import io.loopbox.Stall;
import io.loopbox.TestValues;

/** Makes a {@link Stall}; by default of level 1 and 300 ms. Works with loopbox and with loopbox-noop. */
public final class StallBuilder {
    private int level = 1;
    private double wallMs = 300;
    private long startUptimeMs;
    private long startTimeMs;
    private String message = "";
    private String scene = "";
    private String stack = "";
    private String json = "{}";

    @NonNull
    public StallBuilder level(int level) {
        this.level = level;
        return this;
    }

    @NonNull
    public StallBuilder wallMs(double wallMs) {
        this.wallMs = wallMs;
        return this;
    }

    @NonNull
    public StallBuilder startUptimeMs(long startUptimeMs) {
        this.startUptimeMs = startUptimeMs;
        return this;
    }

    @NonNull
    public StallBuilder startTimeMs(long startTimeMs) {
        this.startTimeMs = startTimeMs;
        return this;
    }

    @NonNull
    public StallBuilder message(@NonNull String message) {
        this.message = Text.given(message, "message");
        return this;
    }

    @NonNull
    public StallBuilder scene(@NonNull String scene) {
        this.scene = Text.given(scene, "scene");
        return this;
    }

    /** Sets the stack: a line for each frame, top first. */
    @NonNull
    public StallBuilder stack(@NonNull String stack) {
        this.stack = Text.given(stack, "stack");
        return this;
    }

    /** Sets the stall's line of the file. It is not computed from the other values. */
    @NonNull
    public StallBuilder json(@NonNull String json) {
        this.json = Text.given(json, "json");
        return this;
    }

    @NonNull
    public Stall build() {
        return TestValues.stall(level, wallMs, startUptimeMs, startTimeMs, message, scene, stack, json);
    }
}
