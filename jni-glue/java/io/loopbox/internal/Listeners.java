// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal;

import java.io.File;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** Who hears of complete reports beside the listener of the configuration, in the order in which they came. Any thread. */
public final class Listeners {
    private static final List<ReportSink> ADDED = new CopyOnWriteArrayList<ReportSink>();

    private Listeners() {}

    public static void add(ReportSink listener) {
        ADDED.add(listener);
    }

    /** On the listener's thread. What one throws is not the others' concern. */
    static void onReport(File file, Gate gate) {
        for (ReportSink listener : ADDED) {
            if (gate.isClosed()) {
                // One of them may have stopped the recording.
                return;
            }
            try {
                listener.onReport(file, false);
            } catch (Throwable fault) {
                Faults.log(fault);
            }
        }
    }
}
