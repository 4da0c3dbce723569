// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal.report;

import android.os.Looper;

/** The main thread's stack where the native sampler cannot take it. */
final class MainStack {
    /**
     * How many frames of a stack are kept, {@code TOP} from its top and {@code BOTTOM} from its bottom: as
     * many as the native sampler keeps.
     */
    private static final int TOP = 96;

    private static final int BOTTOM = 32;

    private MainStack() {}

    /**
     * Called by the native side where the native sampler is off. Returns a line for each frame, top first:
     * class, method, file and line number, separated by tabs. A line with a number alone stands for that many
     * frames that are left out.
     */
    static String take() {
        StackTraceElement[] frames = Looper.getMainLooper().getThread().getStackTrace();
        StringBuilder lines = new StringBuilder();
        int left = frames.length - TOP - BOTTOM;
        for (int at = 0; at < frames.length; at++) {
            if (at == TOP && left > 0) {
                lines.append(left).append('\n');
                at += left;
            }
            StackTraceElement frame = frames[at];
            lines.append(frame.getClassName()).append('\t').append(frame.getMethodName()).append('\t');
            String file = frame.getFileName();
            lines.append(file == null ? "" : file).append('\t').append(frame.getLineNumber()).append('\n');
        }
        return lines.toString();
    }
}
