// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal.monitor;

import io.loopbox.internal.platform.RecorderLog;
import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.util.HashSet;
import java.util.Set;

/** Lets one process at a time send the files of a folder. The kernel ends the lock of a process that dies. */
final class SendLock {
    /** The name of the file that is locked; it stays empty. */
    private static final String NAME = "uiperf.lock";

    /**
     * The folders whose lock this process has. It must not even open their file again: as soon as it closed
     * that, the kernel would release the lock.
     */
    private static final Set<File> HELD = new HashSet<File>();

    /** Null when there is no folder. */
    private final File folder;

    /** The locked file; null in a folder that cannot hold one. */
    private final RandomAccessFile file;

    private SendLock(File folder, RandomAccessFile file) {
        this.folder = folder;
        this.file = file;
    }

    /**
     * Takes the lock of a folder, without waiting.
     *
     * @return null when another process, or another monitor of this one, has it
     */
    static SendLock take(File folder) {
        if (folder == null || !folder.isDirectory()) {
            // There are no files.
            return new SendLock(null, null);
        }
        synchronized (HELD) {
            if (!HELD.add(folder)) {
                return null;
            }
        }
        RandomAccessFile file = null;
        try {
            file = new RandomAccessFile(new File(folder, NAME), "rw");
            if (file.getChannel().tryLock() == null) {
                new SendLock(folder, file).release();
                return null;
            }
        } catch (RuntimeException byOtherName) {
            new SendLock(folder, file).release();
            return null;
        } catch (IOException unable) {
            // The files are sent without it, as far as they can be packed and deleted there.
            RecorderLog.info(folder + " cannot be locked: " + unable);
        }
        return new SendLock(folder, file);
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
