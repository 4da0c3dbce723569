// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox;

import androidx.annotation.NonNull;
import androidx.annotation.Nullable;
import io.loopbox.internal.recording.FrameSettings;

/**
 * Which display frames are recorded while something scrolls, or while an animation runs that the app has
 * named. While nothing moves, the display is not asked for anything. No frames are recorded unless a
 * FrameConfig is given to {@link Config.Builder#frames}.
 */
public final class FrameConfig {
    final FrameSettings settings;

    private FrameConfig(FrameSettings settings) {
        this.settings = settings;
    }

    /** Collects values. */
    public static final class Builder {
        private final FrameSettings settings = new FrameSettings();

        public Builder() {}

        // Made from jni-glue/options.toml: setters
        /** Whether a frame counts if a view of a watched window scrolls during that frame. On by default. */
        @NonNull
        public Builder scroll(boolean on) {
            settings.scroll = on;
            return this;
        }

        /**
         * Whether the recorder notes which scrolls a finger has caused. Off by default, because the recorder
         * wraps the callback of each watched window for this. Window.getCallback then returns the recorder's
         * wrapper. If code casts the result to the Activity, the cast fails.
         */
        @NonNull
        public Builder touch(boolean on) {
            settings.touch = on;
            return this;
        }

        /**
         * Whether the stages of each drawn frame are recorded, from Android 7 on (FrameMetrics). Off by
         * default, because the platform wakes a thread for each frame, and from Android 11 on makes two
         * objects for it.
         */
        @NonNull
        public Builder stages(boolean on) {
            settings.stages = on;
            return this;
        }

        /**
         * Whether the system's compositor reports for each jank frame which side made it late, the app or the
         * system, from Android 16 on (SurfaceControl.JankData). Off by default. It needs {@link #stages},
         * because the stages identify the frame.
         */
        @NonNull
        public Builder jankData(boolean on) {
            settings.jankData = on;
            return this;
        }

        /**
         * Whether messages are sampled earlier while frames come, so that a message that delays frames has a
         * stack. A message is then sampled from an age of one and a half refreshes on, 20 ms at least. On by
         * default; needs {@link Config.Builder#sampling}. With {@link Config.Builder#sampleOnce} such a
         * message gets one stack, at that age.
         */
        @NonNull
        public Builder jankStacks(boolean on) {
            settings.jankStacks = on;
            return this;
        }

        /**
         * A frame that is shown for longer than this gets a separate record, and so does a frame that is
         * shown for three refreshes. 17 to 10,000 ms; default 34.
         */
        @NonNull
        public Builder jankFrameMs(long ms) {
            settings.jankFrameMs = Config.Builder.within("jankFrameMs", ms, 17, 10_000);
            return this;
        }

        /**
         * How many frames one stall must drop before {@link FrameListener#onSkippedFrames} is called, counted
         * as frames of 60 Hz. A faster display must drop more frames, which take the same time. 1 to 600;
         * default 30. From 30 on the platform logs "Skipped 30 frames!".
         */
        @NonNull
        public Builder skippedFrames(int frames) {
            settings.skippedFrames = (int) Config.Builder.within("skippedFrames", frames, 1, 600);
            return this;
        }

        /** How many screens have separate figures; the rest share theirs. 1 to 16; default 16. */
        @NonNull
        public Builder scenes(int count) {
            settings.scenes = (int) Config.Builder.within("scenes", count, 1, 16);
            return this;
        }

        /** What is called while frames come. */
        @NonNull
        public Builder listener(@Nullable FrameListener added) {
            settings.listener = added == null ? null : new FrameListenerSink(added);
            return this;
        }
        // End of what is made from jni-glue/options.toml

        @NonNull
        public FrameConfig build() {
            return new FrameConfig(settings.copy());
        }
    }
}
