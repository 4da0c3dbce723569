// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal;

import android.util.Log;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import java.util.zip.GZIPOutputStream;

/**
 * Puts ART's own trace of an ANR, which the system keeps since Android 11, into the report of the process that it ended: one more
 * section of the file (docs/file-format.md), before its end.
 */
final class SystemTrace {
    private static final int TAG = 0x54524143; // TRAC

    /** Of the text; a trace of a thousand threads is smaller. What is more is left out. */
    private static final int MOST_BYTES = 4 << 20;

    private SystemTrace() {}

    /**
     * Each trace goes into one of the reports that its process wrote: the last of an ANR, or the last of all.
     *
     * @param reports oldest first
     */
    static void attach(List<File> reports, Framework framework) {
        if (reports.isEmpty()) {
            return;
        }
        Exit[] exits = framework.exits();
        boolean[] done = new boolean[exits == null ? 0 : exits.length];
        // The report of the ANR itself, where there is one.
        for (boolean confirmed : new boolean[] {true, false}) {
            for (int at = reports.size() - 1; at >= 0 && exits != null; at--) {
                try {
                    attach(reports.get(at), exits, done, confirmed);
                } catch (IOException unreadable) {
                    Log.i(Tag.LOOPBOX, "no trace into " + reports.get(at) + ": " + unreadable);
                }
            }
        }
    }

    private static void attach(File report, Exit[] exits, boolean[] done, boolean confirmed) throws IOException {
        Digest digest = Digest.read(report);
        if (confirmed && !digest.verdict.equals("confirmed")) {
            return;
        }
        Exit exit = Exit.find(exits, digest.process, (int) digest.pid, digest.timeMs);
        for (int nth = 0; nth < exits.length; nth++) {
            if (exits[nth] == exit && exit.reason == Exit.ANR && !done[nth]) {
                done[nth] = true;
                attach(report, exit);
            }
        }
    }

    private static void attach(File report, Exit exit) throws IOException {
        InputStream trace = exit.trace();
        if (trace == null) {
            return;
        }
        byte[] text;
        try {
            text = compressed(trace);
        } finally {
            trace.close();
        }
        ReportSections.add(report, TAG, text);
    }

    private static byte[] compressed(InputStream text) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        GZIPOutputStream gzip = new GZIPOutputStream(out);
        ReportSections.copy(text, gzip, MOST_BYTES);
        gzip.close();
        return out.toByteArray();
    }
}
