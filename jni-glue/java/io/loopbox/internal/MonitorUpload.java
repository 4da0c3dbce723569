// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal;

import android.util.Log;
import io.loopbox.MonitorUploader;
import java.io.File;

/** Has the app's code send what the monitor wrote, on a thread of its own, one file after the other. */
public final class MonitorUpload implements Runnable {
    private static final long MOST_RETRY_MS = 3_600_000;

    private final MonitorFiles files;
    private final MonitorUploader uploader;
    private final long retryMs;

    // Guarded by this.
    private boolean runs;
    private boolean again;
    private long retryAfterMs;

    /** When a file that could not be sent is tried again, System.nanoTime in milliseconds; 0 for not by itself. */
    private long retryAtMs;

    public MonitorUpload(MonitorFiles files, MonitorSettings settings) {
        this.files = files;
        uploader = settings.uploader;
        retryMs = settings.uploadRetryMs;
    }

    /** Sends all, unless that is being done. Any thread. */
    public synchronized void begin() {
        if (uploader == null) {
            Log.w(Tag.LOOPBOX, "no uploader was given");
            return;
        }
        again = true;
        retryAtMs = 0;
        if (!runs) {
            Thread thread = new Thread(this, "loopbox-upload");
            thread.setDaemon(true);
            thread.start();
            runs = true;
        }
    }

    /** The same if it is time to try again. */
    synchronized void retryWhenDue() {
        if (retryAtMs != 0 && nowMs() - retryAtMs >= 0) {
            begin();
        }
    }

    private static long nowMs() {
        return System.nanoTime() / 1_000_000;
    }

    @Override
    public void run() {
        while (goesOn()) {
            boolean sent = false;
            try {
                sent = sendAll();
            } catch (Throwable fault) {
                Log.w(Tag.LOOPBOX, "the monitor's files cannot be sent now: " + fault);
            }
            ended(sent);
        }
    }

    private synchronized boolean goesOn() {
        runs = again;
        again = false;
        return runs;
    }

    private synchronized void ended(boolean sent) {
        retryAfterMs = sent ? 0 : Math.min(Math.max(retryMs, retryAfterMs * 2), Math.max(MOST_RETRY_MS, retryMs));
        retryAtMs = sent ? 0 : nowMs() + retryAfterMs;
    }

    private boolean sendAll() throws Exception {
        for (File file : files.pack()) {
            // Rotation may have deleted it meanwhile.
            if (file.exists() && !uploader.upload(file, MonitorFiles.day(file))) {
                return false;
            }
            if (file.exists() && !file.delete()) {
                Log.w(Tag.LOOPBOX, "cannot delete " + file);
            }
        }
        return true;
    }
}
