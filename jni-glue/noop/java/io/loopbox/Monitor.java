// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox;

import androidx.annotation.AnyThread;
import androidx.annotation.NonNull;
import androidx.annotation.WorkerThread;
import java.io.File;
import java.util.ArrayList;
import java.util.List;

/** Replaces the monitor: the same methods, none of which does anything. */
public final class Monitor {
    Monitor() {}

    /**
     * Does nothing.
     *
     * @return false
     */
    @AnyThread
    public boolean start() {
        return false;
    }

    /** Nothing. */
    @AnyThread
    public void stop() {}

    /** Returns false. */
    @AnyThread
    public boolean isMonitoring() {
        return false;
    }

    /** Returns an empty list. */
    @WorkerThread
    @NonNull
    public List<File> pending() {
        return new ArrayList<File>();
    }

    /** Nothing. */
    @AnyThread
    public void addSampler(@NonNull MonitorSampler sampler) {}

    /** Nothing. */
    @AnyThread
    public void upload() {}
}
