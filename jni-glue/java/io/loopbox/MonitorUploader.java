// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox;

import androidx.annotation.NonNull;
import androidx.annotation.WorkerThread;
import java.io.File;
import java.io.IOException;

/** Sends the monitor's files to a server of the app's, see {@link Monitor#upload}. */
public interface MonitorUploader {
    /**
     * Sends one file, on a separate thread; it may block.
     *
     * @param gzip lines of JSON, packed by gzip
     * @param day the day of these lines, in the form 2026-11-22; a day may come in several files
     * @return whether the server has the file, which is then deleted. False, like an exception, leaves it for
     *     later
     */
    @WorkerThread
    boolean upload(@NonNull File gzip, @NonNull String day) throws IOException;
}
