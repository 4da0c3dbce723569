// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal;

import android.util.Log;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.List;
import java.util.zip.CRC32;
import java.util.zip.GZIPOutputStream;

/**
 * Puts ART's own trace of an ANR, which the system keeps since Android 11, into the report of the process that it ended: one more
 * section of the file (docs/file-format.md), before its end.
 */
final class SystemTrace {
    private static final int TAG = 0x54524143; // TRAC
    private static final int END = 0x454e4400;
    private static final int HEADER_BYTES = 16;
    private static final int END_BYTES = HEADER_BYTES + 4;

    /** Of the text; a trace of a thousand threads is smaller. What is more is left out. */
    private static final int MOST_BYTES = 4 << 20;

    /** A report is at most some hundred kilobytes; what is more is none of ours. */
    private static final int MOST_FILE_BYTES = 16 << 20;

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
        byte[] with = append(content(report), text);
        if (with == null) {
            return;
        }
        // In one step, as the report itself was written: it is there as it was, or with the trace.
        File next = new File(report.getPath() + ".trace");
        FileOutputStream out = new FileOutputStream(next);
        try {
            out.write(with);
        } finally {
            out.close();
        }
        if (!next.renameTo(report) && !next.delete()) {
            Log.w(Tag.LOOPBOX, "cannot delete " + next);
        }
    }

    /** The file with one more section; null for one that is not whole, or has it. */
    private static byte[] append(byte[] file, byte[] payload) {
        int end = file.length - END_BYTES;
        if (end < 0 || big(file, end) != END || has(file, end)) {
            return null;
        }
        int sections = little(file, end + HEADER_BYTES);
        byte[] with = new byte[end + HEADER_BYTES + payload.length + END_BYTES];
        System.arraycopy(file, 0, with, 0, end);
        int at = section(with, end, TAG, payload);
        byte[] count = new byte[4];
        putLittle(count, 0, sections + 1);
        section(with, at, END, count);
        return with;
    }

    private static boolean has(byte[] file, int end) {
        for (int at = HEADER_BYTES; at + HEADER_BYTES <= end; ) {
            int length = little(file, at + 4);
            if (big(file, at) == TAG || length < 0) {
                return true;
            }
            at += HEADER_BYTES + length;
        }
        return false;
    }

    /** Returns where the next one begins. */
    private static int section(byte[] to, int at, int tag, byte[] payload) {
        putLittle(to, at, Integer.reverseBytes(tag));
        putLittle(to, at + 4, payload.length);
        putLittle(to, at + 8, sum(payload, 0, payload.length));
        putLittle(to, at + 12, sum(to, at, 12));
        System.arraycopy(payload, 0, to, at + HEADER_BYTES, payload.length);
        return at + HEADER_BYTES + payload.length;
    }

    private static int sum(byte[] bytes, int from, int length) {
        CRC32 sum = new CRC32();
        sum.update(bytes, from, length);
        return (int) sum.getValue();
    }

    private static byte[] compressed(InputStream text) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        GZIPOutputStream gzip = new GZIPOutputStream(out);
        copy(text, gzip, MOST_BYTES);
        gzip.close();
        return out.toByteArray();
    }

    private static byte[] content(File file) throws IOException {
        FileInputStream in = new FileInputStream(file);
        try {
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            copy(in, out, MOST_FILE_BYTES);
            return out.toByteArray();
        } finally {
            in.close();
        }
    }

    private static void copy(InputStream from, OutputStream to, int most) throws IOException {
        byte[] part = new byte[16 << 10];
        int left = most;
        for (int read = from.read(part); read > 0 && left > 0; read = from.read(part)) {
            to.write(part, 0, Math.min(read, left));
            left -= read;
        }
    }

    private static int little(byte[] bytes, int at) {
        return bytes[at] & 0xff | (bytes[at + 1] & 0xff) << 8 | (bytes[at + 2] & 0xff) << 16 | bytes[at + 3] << 24;
    }

    private static int big(byte[] bytes, int at) {
        return Integer.reverseBytes(little(bytes, at));
    }

    private static void putLittle(byte[] bytes, int at, int value) {
        for (int nth = 0; nth < 4; nth++) {
            bytes[at + nth] = (byte) (value >>> 8 * nth);
        }
    }
}
