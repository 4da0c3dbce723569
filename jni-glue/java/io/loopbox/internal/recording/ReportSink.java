// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal.recording;

import java.io.File;

/** A listener of reports. */
public interface ReportSink {
    /** Whether this listener wants to be notified of the first file of a report. */
    boolean wantsFirst();

    /** Called on the listener's thread. {@code first} says that the report will get more content. */
    void onReport(File file, boolean first);

    /** Whether this listener wants to be notified of the system's warnings. */
    boolean wantsWarnings();

    /** The system warns of an ANR. Called on the listener's thread. */
    void onWarning(int id, int type, long consumedMs, long timeoutMs);
}
