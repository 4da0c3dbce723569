// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox;

import android.util.Log;
import androidx.annotation.NonNull;
import java.io.File;
import java.io.IOException;

/** A report file and what can be said of it without the desktop command. */
public final class Report {
    private final File file;
    private Digest digest;

    Report(File file) {
        this.file = file;
    }

    /** The file, to be sent as it is; {@code loopbox show} reads it. */
    @NonNull
    public File file() {
        return file;
    }

    /**
     * Why it was written: "sigquit" when the system asked for stacks, as it does at an ANR; "hang" when a message ran
     * for too long; "recovered" when a killed process left it; or the words that {@link Loopbox#dump} was given.
     * "unreadable" when the file is damaged beyond that, or gone.
     */
    @NonNull
    public String reason() {
        return read().reason;
    }

    /** The name of the process that the report is about; empty when it cannot be read. */
    @NonNull
    public String process() {
        return read().process;
    }

    /** Its process id, or 0. */
    public int pid() {
        return (int) read().pid;
    }

    /** When it was written, or the process's last sign of life, as System.currentTimeMillis counts; or 0. */
    public long timeMs() {
        return read().timeMs;
    }

    /**
     * One line of at most 900 bytes in UTF-8 for services that take no files: what the main thread did, how long,
     * where, and how many messages waited. Empty when it cannot be read.
     */
    @NonNull
    public String digest() {
        return read().line;
    }

    /** Once, because the file may be moved or deleted after; but not before anybody asks. */
    private synchronized Digest read() {
        if (digest == null) {
            try {
                digest = Digest.read(file);
            } catch (IOException unreadable) {
                Log.w(Loopbox.TAG, "cannot read " + file, unreadable);
                digest = Digest.NONE;
            }
        }
        return digest;
    }

    @Override
    public String toString() {
        return file.getName();
    }
}
