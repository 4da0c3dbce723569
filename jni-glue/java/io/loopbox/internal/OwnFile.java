// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal;

import android.system.ErrnoException;
import android.system.Os;
import android.system.OsConstants;
import android.system.StructStat;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.FileDescriptor;
import java.io.IOException;

/**
 * Files of the recorder's folders. A symbolic link there is none of ours, and what it leads to is neither read nor handed
 * out: an app that sends reports would send another file of its own.
 */
final class OwnFile {
    /** The constant of OsConstants came with API 27; all of Android's architectures have this number. */
    private static final int O_CLOEXEC = 0x80000;

    private static final int PART = 16 << 10;

    private OwnFile() {}

    /** Whether it is a file, and no link to one. */
    static boolean isFile(File file) {
        StructStat stat = stat(file);
        return stat != null && OsConstants.S_ISREG(stat.st_mode);
    }

    /** Whether it is a folder, and no link to one. */
    static boolean isFolder(File file) {
        StructStat stat = stat(file);
        return stat != null && OsConstants.S_ISDIR(stat.st_mode);
    }

    private static StructStat stat(File file) {
        try {
            return Os.lstat(file.getPath());
        } catch (ErrnoException absent) {
            return null;
        }
    }

    /**
     * The first bytes of a file, all of it where it has no more.
     *
     * @throws IOException also when it is a link, or no file
     */
    static byte[] read(File file, int most) throws IOException {
        try {
            // A pipe that nobody writes to would keep who opens it.
            int flags = OsConstants.O_RDONLY | OsConstants.O_NOFOLLOW | OsConstants.O_NONBLOCK | O_CLOEXEC;
            FileDescriptor in = Os.open(file.getPath(), flags, 0);
            try {
                if (!OsConstants.S_ISREG(Os.fstat(in).st_mode)) {
                    throw new IOException(file + " is no file");
                }
                return read(in, most);
            } finally {
                Os.close(in);
            }
        } catch (ErrnoException refused) {
            throw new IOException(file + ": " + refused.getMessage());
        }
    }

    private static byte[] read(FileDescriptor in, int most) throws ErrnoException, IOException {
        byte[] part = new byte[Math.min(PART, most)];
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        while (all.size() < most) {
            int count = Os.read(in, part, 0, Math.min(part.length, most - all.size()));
            if (count <= 0) {
                break;
            }
            all.write(part, 0, count);
        }
        return all.toByteArray();
    }
}
