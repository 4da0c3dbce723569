// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal.report;

import io.loopbox.internal.platform.Exit;
import io.loopbox.internal.platform.Framework;
import io.loopbox.internal.platform.RecorderLog;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.List;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;

/**
 * Adds ART's own trace of an ANR to the report of the process that the ANR ended: as one more section before
 * the end of the file (docs/file-format.md). The system keeps these traces since Android 11.
 */
final class SystemTrace {
    private static final int TAG = 0x54524143; // TRAC

    /** How many bytes of the text are kept; a trace of a thousand threads is smaller. */
    private static final int MOST_BYTES = 4 << 20;

    /**
     * The line that ends ART's part of a trace begins with this. It is within the last {@code TAIL_BYTES}
     * bytes of the text.
     */
    private static final String END = "----- end ";

    private static final int TAIL_BYTES = 256;

    private SystemTrace() {}

    /**
     * Puts each trace into one of the reports that its process wrote: the last report of an ANR, or else the
     * last of all. A trace without its end is replaced when the system has a longer one by now.
     *
     * @param reports oldest first
     * @param only the one report that may be written; null for all
     */
    static void attach(List<File> reports, File only, Framework framework) {
        if (reports.isEmpty()) {
            return;
        }
        Exit[] exits = framework.exits();
        boolean[] done = new boolean[exits == null ? 0 : exits.length];
        // The report of the ANR itself, where there is one.
        for (boolean confirmed : new boolean[] {true, false}) {
            for (int at = reports.size() - 1; at >= 0 && exits != null; at--) {
                try {
                    attach(reports.get(at), only, exits, done, confirmed);
                } catch (IOException unreadable) {
                    RecorderLog.info("no trace into " + reports.get(at) + ": " + unreadable);
                } catch (RuntimeException fault) {
                    // The system's, which must not take the other reports with it.
                    RecorderLog.warn("no trace into " + reports.get(at) + ": " + fault);
                }
            }
        }
    }

    private static void attach(File report, File only, Exit[] exits, boolean[] done, boolean confirmed)
            throws IOException {
        Digest digest = Digest.read(report);
        if (confirmed && !digest.verdict.equals("confirmed")) {
            return;
        }
        Exit exit = digest.exit(exits);
        for (int nth = 0; nth < exits.length; nth++) {
            if (exits[nth] == exit && exit.reason == Exit.ANR && !done[nth]) {
                done[nth] = true;
                if (only == null || only.equals(report)) {
                    attach(report, exit);
                }
            }
        }
    }

    private static void attach(File report, Exit exit) throws IOException {
        byte[] had = ReportSections.payload(report, TAG);
        Ending known = had == null ? new Ending() : ending(had);
        if (known.isThere()) {
            return;
        }
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
        if (ending(text).length > known.length) {
            ReportSections.put(report, TAG, text);
        }
    }

    /**
     * Compresses a stream. When reading fails, the result has what was read before the failure. That part of
     * the trace has no end, so the next start tries to get a longer one.
     */
    private static byte[] compressed(InputStream text) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        GZIPOutputStream gzip = new GZIPOutputStream(out);
        try {
            ReportSections.copy(text, gzip, MOST_BYTES);
        } catch (IOException cut) {
            RecorderLog.info("the system's trace breaks off: " + cut);
        }
        gzip.close();
        return out.toByteArray();
    }

    private static Ending ending(byte[] packed) throws IOException {
        Ending ending = new Ending();
        ReportSections.copy(new GZIPInputStream(new ByteArrayInputStream(packed)), ending, MOST_BYTES);
        return ending;
    }

    /** Determines how long a text is, and how it ends. */
    private static final class Ending extends OutputStream {
        int length;
        private final byte[] tail = new byte[TAIL_BYTES];

        @Override
        public void write(int c) {
            tail[length++ % TAIL_BYTES] = (byte) c;
        }

        boolean isThere() {
            StringBuilder text = new StringBuilder();
            for (int at = Math.max(0, length - TAIL_BYTES); at < length; at++) {
                text.append((char) tail[at % TAIL_BYTES]);
            }
            return text.indexOf(END) >= 0;
        }
    }
}
