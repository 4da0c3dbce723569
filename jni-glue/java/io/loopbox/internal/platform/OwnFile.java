// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal.platform;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;

/**
 * Files in the recorder's folders. A symbolic link there is not ours, and its target is neither read nor
 * handed out: otherwise an app that sends reports would send another of its files.
 */
public final class OwnFile {
    private static final int PART = 16 << 10;

    private OwnFile() {}

    /** Whether {@code file} is a file, and no link to one. */
    public static boolean isFile(File file) {
        return file.isFile() && isInItsFolder(file);
    }

    /** Whether {@code file} is a folder, and no link to one. */
    public static boolean isFolder(File file) {
        return file.isDirectory() && isInItsFolder(file);
    }

    /**
     * Whether {@code file} is in its folder and no link. The folder may be reached by links, as an app's data
     * is.
     */
    private static boolean isInItsFolder(File file) {
        try {
            File folder = file.getAbsoluteFile().getParentFile();
            return folder == null
                    || new File(folder.getCanonicalFile(), file.getName()).equals(file.getCanonicalFile());
        } catch (IOException unknown) {
            return false;
        }
    }

    /**
     * The first bytes of a file, or all of a shorter one.
     *
     * @throws IOException also when it is a link, or no file
     */
    public static byte[] read(File file, int most) throws IOException {
        if (!isFile(file)) {
            throw new IOException(file + " is no file");
        }
        FileInputStream in = new FileInputStream(file);
        try {
            byte[] part = new byte[Math.min(PART, most)];
            ByteArrayOutputStream all = new ByteArrayOutputStream();
            while (all.size() < most) {
                int count = in.read(part, 0, Math.min(part.length, most - all.size()));
                if (count <= 0) {
                    break;
                }
                all.write(part, 0, count);
            }
            return all.toByteArray();
        } finally {
            in.close();
        }
    }
}
