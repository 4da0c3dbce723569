// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox;

import androidx.annotation.AnyThread;
import androidx.annotation.NonNull;
import androidx.annotation.WorkerThread;
import io.loopbox.internal.Purge;
import io.loopbox.internal.monitor.MonitorFiles;
import io.loopbox.internal.monitor.MonitorThread;
import io.loopbox.internal.monitor.MonitorUpload;
import io.loopbox.internal.platform.Faults;
import io.loopbox.internal.platform.RecorderLog;
import io.loopbox.internal.recording.StallSink;
import java.io.File;
import java.util.Collections;
import java.util.List;

/**
 * The block monitor and the performance monitor. The first takes a stack of each message that blocks the main
 * thread. The second writes a line to the day's file for each message that took long: with its stacks, and
 * with what the process did before, during and after it. Both use the recorder's hook and sampler, so {@link
 * Loopbox#install} comes before {@link #start}, and they add no work on the main thread. No method throws
 * into the app.
 */
public final class Monitor {
    private final MonitorFiles files;
    private final MonitorUpload upload;
    private final MonitorThread.Plan plan;

    Monitor(MonitorConfig config) {
        files = new MonitorFiles(config.settings.directory, config.settings);
        upload = new MonitorUpload(files, config.settings);
        plan = new MonitorThread.Plan(config.settings, files, upload, sink(config.settings.listener));
    }

    private static StallSink sink(final MonitorListener listener) {
        return new StallSink() {
            @Override
            public void onBlock(long ageMs, String stack) {
                if (listener != null) {
                    listener.onBlock(ageMs, stack);
                }
            }

            @Override
            public void onStall(
                    int level, double ms, long uptimeMs, long timeMs, String message, String scene, String stack, String json) {
                if (listener != null) {
                    listener.onStall(new Stall(level, ms, uptimeMs, timeMs, message, scene, stack, json));
                }
            }
        };
    }

    /**
     * Starts monitoring; one monitor at a time. Any thread.
     *
     * @return whether it works; the log has the reason if not. It does not work before {@link
     *     Loopbox#install}: call it again after that
     */
    @AnyThread
    public boolean start() {
        try {
            files.keepIn(Loopbox.monitorDirectory());
            String refusal = MonitorThread.start(plan);
            if (refusal != null) {
                RecorderLog.warn("no monitor: " + refusal);
                Purge.ifAsked(null);
            }
            return refusal == null;
        } catch (Throwable fault) {
            Faults.log(fault);
            return false;
        }
    }

    /** Stops monitoring; what was found by then is still written. Any thread. */
    @AnyThread
    public void stop() {
        try {
            MonitorThread.stop(plan);
        } catch (Throwable fault) {
            Faults.log(fault);
        }
    }

    /** Whether it was started and works. Any thread. */
    @AnyThread
    public boolean isMonitoring() {
        return MonitorThread.isRunning(plan);
    }

    /**
     * The files, oldest day first, also those of earlier processes. None before the first {@link
     * Loopbox#install}, which sets the directory, unless {@link MonitorConfig.Builder#directory} does.
     */
    @WorkerThread
    @NonNull
    public List<File> pending() {
        try {
            files.keepIn(Loopbox.monitorDirectory());
            return files.list();
        } catch (Throwable fault) {
            Faults.log(fault);
            return Collections.emptyList();
        }
    }

    /** Adds a sampler that is called with each sample of the process, from the next one on. Any thread. */
    @AnyThread
    public void addSampler(@NonNull MonitorSampler sampler) {
        plan.add(sampler);
    }

    /**
     * Sends all files now, including the current day's, with the {@link MonitorConfig.Builder#uploader}. Call
     * it at a good time, for example when the network is unmetered or the device charges. Each file is packed
     * first and deleted when it was sent. A file that could not be sent is tried again while the app is used
     * and monitored, and at the next call. Before the first {@link Loopbox#install} it sends the files that
     * {@link #pending} returns. Returns at once. Any thread.
     */
    @AnyThread
    public void upload() {
        try {
            files.keepIn(Loopbox.monitorDirectory());
            upload.begin();
        } catch (Throwable fault) {
            Faults.log(fault);
        }
    }
}
