// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox;

import androidx.annotation.NonNull;

/**
 * Makes objects that in an app only the recorder makes. Only the builders of {@code io.loopbox.testing} call
 * this class: they check the values.
 */
public final class TestValues {
    private TestValues() {}

    @NonNull
    public static Status statusOn(@NonNull String lines) {
        return Status.on(lines);
    }

    @NonNull
    public static Status statusOff(@NonNull String reason) {
        return Status.off(reason);
    }

    @NonNull
    public static AnrWarning anrWarning(int id, int type, long consumedMs, long timeoutMs) {
        return new AnrWarning(id, type, consumedMs, timeoutMs);
    }

    @NonNull
    public static Stall stall(
            int level,
            double wallMs,
            long startUptimeMs,
            long startTimeMs,
            @NonNull String message,
            @NonNull String scene,
            @NonNull String stack,
            @NonNull String json) {
        return new Stall(level, wallMs, startUptimeMs, startTimeMs, message, scene, stack, json);
    }

    @NonNull
    public static FrameWindow frameWindow(@NonNull long[] values, @NonNull String scene, int missed) {
        return new FrameWindow(values, scene, missed);
    }

    @NonNull
    public static FrameGesture frameGesture(@NonNull long[] values) {
        return new FrameGesture(values);
    }

    @NonNull
    public static FrameStats frameStats(@NonNull String lines) {
        return new FrameStats(lines);
    }
}
