// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal.monitor;

import io.loopbox.internal.platform.JsonLine;

/**
 * Frames of the display around a message that took long, as the native side describes them
 * (long_messages.rs).
 */
final class StallFrames {
    private static final double NANOS_PER_S = 1e9;
    private static final double MS_PER_S = 1e3;

    private final Long dropped;
    private final long frames;
    private final long sumNs;
    private final long sceneDropped;
    private final long hitchNs;
    private final String scene;

    StallFrames(String[] fields, int from) {
        dropped = StallLine.number(fields[from]);
        frames = Long.parseLong(fields[from + 1]);
        sumNs = Long.parseLong(fields[from + 2]);
        sceneDropped = Long.parseLong(fields[from + 3]);
        hitchNs = Long.parseLong(fields[from + 4]);
        scene = StallLine.cut(fields[from + 5]);
    }

    void write(JsonLine line) {
        line.name("display_frames").open('{');
        if (dropped == null) {
            line.text("dropped", null);
        } else {
            line.number("dropped", dropped);
        }
        line.text("scene", scene).number("scene_frames", frames).number("scene_dropped", sceneDropped);
        line.tenths("scene_fps", perSecond(frames * NANOS_PER_S)).tenths("scene_hitch_ms_per_s", perSecond(MS_PER_S * hitchNs));
        line.close('}');
    }

    private Double perSecond(double value) {
        return sumNs == 0 ? null : value / sumNs;
    }
}
