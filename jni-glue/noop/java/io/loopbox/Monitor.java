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

    /** @return false */
    @AnyThread
    public boolean start() {
        return false;
    }

    /** Nothing. */
    @AnyThread
    public void stop() {}

    /** No. */
    @AnyThread
    public boolean isMonitoring() {
        return false;
    }

    /** None. */
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
