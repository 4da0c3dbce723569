// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.testing;

import androidx.annotation.NonNull;
import io.loopbox.FrameStats;
import io.loopbox.TestValues;

/** Makes a {@link FrameStats}, by default without frames. Works with loopbox and with loopbox-noop. */
public final class FrameStatsBuilder {
    // What a line is of (monitor/frame_stats.rs).
    private static final long SCREEN = 0;
    private static final long PROCESS = 2;
    private static final long GESTURE = 3;

    private final StringBuilder lines = new StringBuilder();

    /** Sets the figures of all screens together. They are not computed from the single screens. */
    @NonNull
    public FrameStatsBuilder process(@NonNull FrameSceneBuilder all) {
        lines.append(Text.given(all, "all").line(PROCESS, ""));
        return this;
    }

    @NonNull
    public FrameStatsBuilder scene(@NonNull String name, @NonNull FrameSceneBuilder scene) {
        lines.append(Text.given(scene, "scene").line(SCREEN, Text.given(name, "name")));
        return this;
    }

    @NonNull
    public FrameStatsBuilder gesture(@NonNull FrameGestureBuilder gesture) {
        lines.append(GESTURE).append('\t');
        for (long value : Text.given(gesture, "gesture").values()) {
            lines.append(value).append('\t');
        }
        lines.append('\n');
        return this;
    }

    @NonNull
    public FrameStats build() {
        return TestValues.frameStats(lines.toString());
    }
}
