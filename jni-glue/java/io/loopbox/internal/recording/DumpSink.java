// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal.recording;

import java.io.File;

/** Receives a report that was requested without waiting for it. */
public interface DumpSink {
    /**
     * Called when the report is complete, or when it is certain that there is none.
     *
     * @param file null when none was written
     */
    void onDumped(File file);
}
