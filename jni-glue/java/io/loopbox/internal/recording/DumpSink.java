// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal.recording;

import java.io.File;

/** Who asked for a report and does not wait for it. */
public interface DumpSink {
    /** @param file null when none was written */
    void onDumped(File file);
}
