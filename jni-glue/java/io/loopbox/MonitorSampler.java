// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox;

import androidx.annotation.NonNull;
import androidx.annotation.WorkerThread;
import java.util.Map;

/** Samples values of the app before, during and after a stall, see {@link Monitor#addSampler}. */
public interface MonitorSampler {
    /** The prefix of its values' names in the files; a short word. */
    @NonNull
    String name();

    /**
     * Takes a sample, on the monitor's thread: nothing else is sampled or written until it returns. A sampler
     * that throws is not called again.
     *
     * @param into where its values go, by their names; the first eight are kept
     */
    @WorkerThread
    void sample(@NonNull Map<String, Long> into) throws Exception;
}
