// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox;

import androidx.annotation.NonNull;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Figures of the frames so far; see {@link Frames#snapshot}. */
public final class FrameStats {
    private static final double NANOS_PER_MS = 1e6;
    private static final double NANOS_PER_S = 1e9;
    private static final double MICROS_PER_MS = 1e3;
    private static final double MS_PER_S = 1e3;

    // What a line is of (monitor/frame_stats.rs).
    private static final long PROCESS = 2;
    private static final long GESTURE = 3;

    private static final int SCENE_NUMBERS = 16;

    private Scene process = new Scene(new long[SCENE_NUMBERS], "", new LinkedHashMap<String, Integer>());
    private final List<Scene> scenes = new ArrayList<Scene>();
    private final List<FrameGesture> gestures = new ArrayList<FrameGesture>();

    /** @param lines as the native side passes them (monitor/frame_stats.rs) */
    FrameStats(String lines) {
        for (String line : lines.split("\n")) {
            String[] fields = line.split("\t", -1);
            if (fields.length > SCENE_NUMBERS) {
                addScene(fields);
            } else if (fields.length > 1) {
                addGesture(fields);
            }
        }
    }

    private void addScene(String[] fields) {
        long[] values = numbers(fields, 0, SCENE_NUMBERS);
        Map<String, Integer> causes = new LinkedHashMap<String, Integer>();
        for (int at = SCENE_NUMBERS + 1; at < fields.length; at++) {
            int equals = fields[at].indexOf('=');
            causes.put(fields[at].substring(0, equals), Integer.valueOf(fields[at].substring(equals + 1)));
        }
        Scene scene = new Scene(values, fields[SCENE_NUMBERS], causes);
        if (values[0] == PROCESS) {
            process = scene;
        } else if (scene.getFrames() > 0) {
            scenes.add(scene);
        }
    }

    private void addGesture(String[] fields) {
        long[] values = numbers(fields, 0, fields.length - 1);
        if (values[0] == GESTURE) {
            gestures.add(new FrameGesture(numbers(fields, 1, fields.length - 1)));
        }
    }

    private static long[] numbers(String[] fields, int from, int to) {
        long[] numbers = new long[to - from];
        for (int at = from; at < to; at++) {
            numbers[at - from] = Long.parseLong(fields[at]);
        }
        return numbers;
    }

    /** All screens together. */
    @NonNull
    public Scene getProcess() {
        return process;
    }

    /**
     * The screens that had frames; those beyond {@link FrameConfig.Builder#scenes} are combined into one
     * without a name.
     */
    @NonNull
    public List<Scene> getScenes() {
        return Collections.unmodifiableList(scenes);
    }

    /** The newest scrolls that have ended, 16 at most, the oldest first. */
    @NonNull
    public List<FrameGesture> getGestures() {
        return Collections.unmodifiableList(gestures);
    }

    /** The frames of one screen. */
    public static final class Scene {
        private final long[] values;
        private final String name;
        private final Map<String, Integer> causes;

        Scene(long[] values, String name, Map<String, Integer> causes) {
            this.values = values;
            this.name = name;
            this.causes = causes;
        }

        /** The screen's name; empty for all screens together, and for the figures of those without a name. */
        @NonNull
        public String getName() {
            return name;
        }

        /** How many frames were counted. */
        public int getFrames() {
            return (int) values[1];
        }

        /** How long the counted frames were shown in all. */
        public double getDurationMs() {
            return values[2] / NANOS_PER_MS;
        }

        /** Frames per second; 0 without a frame. */
        public double getFps() {
            return values[2] == 0 ? 0 : values[1] * NANOS_PER_S / values[2];
        }

        /** {@link #getFps} as a share of the refresh rates that were in force: 1 when no frame was late. */
        public double getFpsOfRate() {
            return values[4] == 0 ? 0 : (double) values[3] / values[4];
        }

        /**
         * The hitch rate: how long frames stayed on the display after their first refresh, in milliseconds
         * for each second of all frames' durations. Of each frame's extra time only whole refreshes count. 0
         * without a frame.
         */
        public double getHitchMsPerSecond() {
            return values[2] == 0 ? 0 : MS_PER_S * values[5] / values[2];
        }

        /** {@link #getHitchMsPerSecond}, only for the frames that scrolled. */
        public double getScrollHitchMsPerSecond() {
            return values[13] == 0 ? 0 : MS_PER_S * values[14] / values[13];
        }

        /** How many frames scrolled. */
        public int getScrolledFrames() {
            return (int) values[12];
        }

        /** How long the longest frame was shown. */
        public double getLongestMs() {
            return values[6] / MICROS_PER_MS;
        }

        /** Refreshes that were missed. */
        public long getDroppedFrames() {
            return values[7];
        }

        /** Frames that made the display miss at least one refresh. */
        public int getSlowFrames() {
            return (int) values[8];
        }

        /** Frames that were shown for more than 700 ms. */
        public int getFrozenFrames() {
            return (int) values[9];
        }

        /**
         * How many jank windows there were. A jank window is a sequence of frames that begins with a frame
         * that was shown visibly too long. It counts when its frames per second are below five sixths of the
         * refresh rate.
         */
        public int getJankWindows() {
            return (int) values[10];
        }

        /** Scrolls that have ended. */
        public int getGestures() {
            return (int) values[11];
        }

        /** The number of reports of stages that the platform could not deliver. */
        public int getLostReports() {
            return (int) values[15];
        }

        /**
         * Slow frames by their main cause ("layout_measure"); empty where {@link FrameConfig.Builder#stages}
         * is off.
         */
        @NonNull
        public Map<String, Integer> getCauses() {
            return Collections.unmodifiableMap(causes);
        }
    }
}
