// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal.monitor;

import io.loopbox.internal.platform.RecorderLog;
import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.channels.OverlappingFileLockException;
import java.util.HashSet;
import java.util.Set;

/** Lets one process at a time send the files of a folder. The kernel ends the lock of a process that dies. */
final class SendLock {
    /** The name of the file that is locked; it stays empty. */
    private static final String NAME = "uiperf.lock";

    /**
     * The folders whose lock this process has. The process must not open the locked file of such a folder a
     * second time: when it closed the second descriptor, the kernel would release the lock.
     */
    private static final Set<File> HELD = new HashSet<File>();

    /** Null when there is no folder. */
    private final File folder;

    /** The locked file; null in a folder that cannot hold one. */
    private RandomAccessFile file;

    private boolean isTaken;

    private SendLock(File folder) {
        this.folder = folder;
    }

    /**
     * Takes the lock of a folder, without waiting.
     *
     * @return null when another process, or another monitor of this one, has it
     */
    static SendLock take(File folder) {
        if (folder == null || !folder.isDirectory()) {
            // There are no files.
            return new SendLock(null);
        }
        synchronized (HELD) {
            if (!HELD.add(folder)) {
                return null;
            }
        }
        SendLock lock = new SendLock(folder);
        try {
            lock.isTaken = lock.lock();
        } finally {
            if (!lock.isTaken) {
                lock.release();
            }
        }
        return lock.isTaken ? lock : null;
    }

    private boolean lock() {
        try {
            file = new RandomAccessFile(new File(folder, NAME), "rw");
            return file.getChannel().tryLock() != null;
        } catch (OverlappingFileLockException byOtherName) {
            return false;
        } catch (IOException unable) {
            // The files are sent without it, as far as they can be packed and deleted there.
            RecorderLog.info(folder + " cannot be locked: " + unable);
            return true;
        }
    }

    void release() {
        try {
            if (file != null) {
                file.close();
            }
        } catch (IOException unable) {
            RecorderLog.info("cannot release the lock of " + folder + ": " + unable);
        }
        synchronized (HELD) {
            HELD.remove(folder);
        }
    }
}
