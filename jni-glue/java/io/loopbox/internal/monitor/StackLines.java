// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal.monitor;

import java.util.ArrayList;
import java.util.List;

/** A stack as the native side writes it (long_messages.rs), converted to the form of an exception. */
final class StackLines {
    /**
     * How often this stack was seen. {@code firstNs} and {@code lastNs} are when it was first and last seen,
     * uptime.
     */
    long times = 1;

    long firstNs;
    long lastNs;

    /** The frames in the form of StackTraceElement, top first. */
    final List<String> frames = new ArrayList<String>();

    void add(String line) {
        String[] parts = line.split("\t", -1);
        if (parts.length < 4) {
            frames.add("... " + line + " frames left out");
            return;
        }
        String file = parts[2].isEmpty() ? null : parts[2];
        frames.add(new StackTraceElement(parts[0], parts[1], file, Integer.parseInt(parts[3])).toString());
    }

    /** The form of the logs: a line for each frame. */
    String text() {
        StringBuilder text = new StringBuilder();
        for (String frame : frames) {
            text.append(frame).append('\n');
        }
        return text.toString();
    }
}
