// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox;

import androidx.annotation.NonNull;
import io.loopbox.internal.platform.Faults;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** Which parts of the recorder are on, which are off, and why. */
public final class Status {
    /** One part of the recorder. */
    public static final class Part {
        private final String name;
        private final boolean on;
        private final String detail;

        Part(String name, boolean on, String detail) {
            this.name = name;
            this.on = on;
            this.detail = detail;
        }

        /**
         * The part: "hook" (into the main Looper), "sampler" (of the main thread's stacks), "ring" (the
         * memory that outlives the process) or "sigquit" (the report at an ANR). Where the app asks for
         * frames, there are also "frames", "stages" (of frames), "touch" (which scrolls a finger caused) and
         * "janks" (the compositor's jank types). "requests" is there when reports that the app asked for were
         * refused, and "annotations" when some were not kept. A newer version may add parts.
         */
        @NonNull
        public String getName() {
            return name;
        }

        /** Whether it works. */
        public boolean isOn() {
            return on;
        }

        /** How it works, or why it does not. */
        @NonNull
        public String getDetail() {
            return detail;
        }

        @Override
        public String toString() {
            return name + (on ? " on" : " off") + (detail.isEmpty() ? "" : " (" + detail + ")");
        }
    }

    private final boolean on;
    private final String reason;
    private final List<Part> parts;

    private Status(boolean on, String reason, List<Part> parts) {
        this.on = on;
        this.reason = reason;
        this.parts = Collections.unmodifiableList(parts);
    }

    /** Created in advance, because later there may be no memory for a status. */
    private static final Status UNKNOWN = off("memory is short");

    /** The status of a recorder that is off because of this fault. Never throws. */
    static Status offBy(Throwable fault) {
        try {
            return off(Faults.text(fault));
        } catch (Throwable worse) {
            return UNKNOWN;
        }
    }

    static Status off(String reason) {
        return new Status(false, reason, new ArrayList<Part>());
    }

    /**
     * The status of a recorder that is on.
     *
     * @param lines the native side's list of features; null when the recorder has just stopped
     */
    static Status on(String lines) {
        List<Part> parts = new ArrayList<Part>();
        for (String line : (lines == null ? "" : lines).split("\n")) {
            String[] words = line.split("\t", 3);
            if (words.length == 3) {
                parts.add(new Part(words[0], "1".equals(words[1]), words[2]));
            }
        }
        return new Status(true, "", parts);
    }

    /** Whether the main thread is recorded. */
    public boolean isOn() {
        return on;
    }

    /** Why the recorder is not on; empty when it is. */
    @NonNull
    public String getReason() {
        return reason;
    }

    /**
     * The parts, when the recorder is on. The sampler examines ART first, and the ring makes its file: both
     * appear some milliseconds after the installation. A ring that is off is in memory only, and is lost when
     * the process is killed. If the ring's file could not be made, the recorder tries to make it again.
     */
    @NonNull
    public List<Part> getParts() {
        return parts;
    }

    @Override
    public String toString() {
        return on ? "on: " + parts : "off: " + reason;
    }
}
