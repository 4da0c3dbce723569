// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox;

import androidx.annotation.NonNull;
import androidx.annotation.WorkerThread;
import java.util.Map;

/** Something else to sample before, during and after a stall, see {@link Monitor#addSampler}. */
public interface MonitorSampler {
    /** What its values are called in the files, before their own names; a short word. */
    @NonNull
    String name();

    /**
     * Takes a sample, on the monitor's thread: nothing else is sampled or written until it returns. One that
     * throws is not called again.
     *
     * @param into where its values go, by their names; the first eight are kept
     */
    @WorkerThread
    void sample(@NonNull Map<String, Long> into) throws Exception;
}
