// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal.platform;

import android.system.ErrnoException;
import java.io.File;

/** Deletes files, and returns whether they are gone; failures are logged. */
public final class Deletion {
    private Deletion() {}

    /** False for a folder that exists but cannot be read: it may contain something. */
    public static boolean isRead(File folder) {
        if (folder.list() != null) {
            return true;
        }
        return isGone(folder);
    }

    /** Deletes a file, and returns whether it is gone. */
    public static boolean isDeleted(File file) {
        // Another process may have been quicker.
        if (file.delete() || isGone(file)) {
            return true;
        }
        RecorderLog.warn("cannot delete " + file);
        return false;
    }

    private static boolean isGone(File file) {
        try {
            return !App.isThere(file);
        } catch (ErrnoException unknown) {
            RecorderLog.warn("not known whether it is deleted: " + file + ": " + unknown);
            return false;
        }
    }

    /** Removes a folder that is empty; one with files of the app stays. */
    public static void removeEmpty(File folder) {
        if (OwnFile.isFolder(folder) && folder.delete()) {
            RecorderLog.info("deleted " + folder);
        }
    }
}
