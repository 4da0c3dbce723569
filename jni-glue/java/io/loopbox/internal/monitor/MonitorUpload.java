// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal.monitor;

import io.loopbox.MonitorUploader;
import io.loopbox.internal.platform.OwnFile;
import io.loopbox.internal.platform.RecorderLog;
import io.loopbox.internal.recording.MonitorSettings;
import java.io.File;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Makes the app's code send what the monitor wrote, on a separate thread, one file after the other. */
public final class MonitorUpload implements Runnable {
    private static final long MOST_RETRY_MS = 3_600_000;

    private final MonitorFiles files;
    private final MonitorUploader uploader;
    private final long retryMs;

    /** The uploads in progress. */
    private static final Set<MonitorUpload> SENDING = new HashSet<MonitorUpload>();

    // Guarded by this.
    private boolean runs;
    private boolean again;
    private boolean stopped;
    private Thread sender;
    private long retryAfterMs;

    /**
     * The time of the next try to send a file that could not be sent, System.nanoTime in milliseconds; 0 if
     * none is planned.
     */
    private long retryAtMs;

    public MonitorUpload(MonitorFiles files, MonitorSettings settings) {
        this.files = files;
        uploader = settings.uploader;
        retryMs = settings.uploadRetryMs;
    }

    /**
     * Ends each upload after its present file, because the recording ends. The app may ask for more later.
     * Any thread.
     */
    public static void stopAll() {
        List<MonitorUpload> all;
        synchronized (SENDING) {
            all = new ArrayList<MonitorUpload>(SENDING);
        }
        for (MonitorUpload upload : all) {
            upload.stop();
        }
    }

    private synchronized void stop() {
        again = false;
        stopped = true;
        retryAtMs = 0;
    }

    private synchronized boolean isStopped() {
        return stopped;
    }

    /**
     * Sends all files. If an upload is in progress, all files are sent again after it. Any thread. Ignored
     * when the uploader itself calls this: a file that it could not send is tried again anyway.
     */
    public synchronized void begin() {
        if (uploader == null) {
            RecorderLog.warn("no uploader was given");
            return;
        }
        if (runs && Thread.currentThread() == sender) {
            RecorderLog.warn("the uploader has asked for an upload");
            return;
        }
        again = true;
        stopped = false;
        retryAtMs = 0;
        if (!runs) {
            sender = new Thread(this, "loopbox-upload");
            sender.setDaemon(true);
            sender.start();
            runs = true;
        }
    }

    /** Starts the upload again if it is time for another try. */
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
        try {
            synchronized (SENDING) {
                SENDING.add(this);
            }
            send();
        } catch (Throwable noMemory) {
            // Not even for a line of the log. A thread that throws ends the app.
            synchronized (this) {
                runs = false;
            }
        } finally {
            synchronized (SENDING) {
                SENDING.remove(this);
            }
        }
    }

    private void send() {
        while (goesOn()) {
            boolean sent = false;
            try {
                sent = sendAll();
            } catch (Throwable fault) {
                RecorderLog.warn("the monitor's files cannot be sent now: " + fault);
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
        retryAtMs = sent || stopped ? 0 : nowMs() + retryAfterMs;
    }

    /**
     * Packs and sends the files. Only one process does, however many write into the folder: a file that two
     * of them sent would count twice.
     *
     * @return false when it is to be tried again
     */
    private boolean sendAll() throws Exception {
        SendLock lock = SendLock.take(files.directory());
        if (lock == null) {
            return false;
        }
        try {
            return sendLocked();
        } finally {
            lock.release();
        }
    }

    private boolean sendLocked() throws Exception {
        for (File file : files.pack()) {
            if (isStopped()) {
                return true;
            }
            // Rotation may have deleted it meanwhile.
            if (OwnFile.isFile(file) && !uploader.upload(file, MonitorFiles.day(file))) {
                return false;
            }
            if (file.exists() && !file.delete()) {
                RecorderLog.warn("cannot delete " + file);
            }
        }
        return true;
    }
}
