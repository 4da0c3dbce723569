// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal.report;

import io.loopbox.internal.platform.OwnFile;
import io.loopbox.internal.platform.RecorderLog;
import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.Arrays;
import java.util.zip.CRC32;

/**
 * What a later start adds to the report of a process that is gone: sections before the end of the file
 * (docs/file-format.md), annotations among them.
 */
public final class ReportSections {
    /** The annotation that names the system's profile of an ANR. */
    public static final String SYSTEM_PROFILE = "system_profile";

    /** The annotation that names the trace which the system recorded when a message became a suspect. */
    public static final String HANG_TRACE = "hang_trace";

    private static final int NOTE = 0x4e4f5445; // NOTE
    private static final int END = 0x454e4400;
    private static final int HEADER_BYTES = 16;
    /** The suffix of a file that is being written, in addition to that of reports. */
    static final String UNFINISHED = ".next";
    private static final int END_BYTES = HEADER_BYTES + 4;

    /**
     * How many bytes of a file are read at most. A report has at most some hundred kilobytes; a larger file
     * is not ours.
     */
    private static final int MOST_FILE_BYTES = 16 << 20;

    private ReportSections() {}

    /** Adds an annotation, unless it is there, or the file is not whole. */
    static void annotate(File report, String name, String value) throws IOException {
        byte[] file = OwnFile.read(report, MOST_FILE_BYTES);
        if (note(file, name) == null) {
            append(report, file, NOTE, (name + '\n' + value).getBytes("UTF-8"));
        }
    }

    /** The text that {@link #annotate} added; null for none. */
    public static String note(File report, String name) throws IOException {
        return note(OwnFile.read(report, MOST_FILE_BYTES), name);
    }

    private static String note(byte[] file, String name) throws IOException {
        String begin = name + '\n';
        for (int at = next(file, 0, NOTE); at >= 0; at = next(file, at, NOTE)) {
            String text = new String(file, at + HEADER_BYTES, little(file, at + 4), "UTF-8");
            if (text.startsWith(begin)) {
                return text.substring(begin.length());
            }
        }
        return null;
    }

    /** The payload of a section; null where there is none of its kind. */
    static byte[] payload(File report, int tag) throws IOException {
        byte[] file = OwnFile.read(report, MOST_FILE_BYTES);
        int at = next(file, 0, tag);
        return at < 0 ? null : Arrays.copyOfRange(file, at + HEADER_BYTES, after(file, at));
    }

    /** Adds a section, or replaces the one of its kind, unless the file is incomplete. */
    static void put(File report, int tag, byte[] payload) throws IOException {
        byte[] file = OwnFile.read(report, MOST_FILE_BYTES);
        int at = next(file, 0, tag);
        append(report, at < 0 ? file : without(file, at), tag, payload);
    }

    /** The file without the section at {@code at}; the unchanged file when it is incomplete. */
    private static byte[] without(byte[] file, int at) {
        int end = file.length - END_BYTES;
        if (next(file, 0, END) != end) {
            return file;
        }
        int rest = after(file, at);
        byte[] left = new byte[file.length - (rest - at)];
        System.arraycopy(file, 0, left, 0, at);
        System.arraycopy(file, rest, left, at, file.length - rest);
        byte[] count = new byte[4];
        putLittle(count, 0, little(file, end + HEADER_BYTES) - 1);
        section(left, left.length - END_BYTES, END, count);
        return left;
    }

    private static void append(File report, byte[] file, int tag, byte[] payload) throws IOException {
        int end = file.length - END_BYTES;
        if (end < 0 || next(file, 0, END) != end) {
            return;
        }
        byte[] with = new byte[end + HEADER_BYTES + payload.length + END_BYTES];
        System.arraycopy(file, 0, with, 0, end);
        int at = section(with, end, tag, payload);
        byte[] count = new byte[4];
        putLittle(count, 0, little(file, end + HEADER_BYTES) + 1);
        section(with, at, END, count);
        write(report, with);
    }

    /** Replaces the file in one step: a reader finds either the old report or the new one. */
    private static void write(File report, byte[] with) throws IOException {
        File next = new File(report.getPath() + UNFINISHED);
        boolean renamed = false;
        try {
            FileOutputStream out = new FileOutputStream(next);
            try {
                out.write(with);
            } finally {
                out.close();
            }
            renamed = next.renameTo(report);
        } finally {
            if (!renamed && !next.delete()) {
                RecorderLog.warn("cannot delete " + next);
            }
        }
    }

    /**
     * The position of the first section of this kind after the section at {@code from}, or in the whole file
     * when {@code from} is 0; -1 for none.
     */
    private static int next(byte[] file, int from, int tag) {
        // What comes before the first one is as long as a header.
        int at = from == 0 ? HEADER_BYTES : after(file, from);
        while (isWhole(file, at)) {
            if (big(file, at) == tag) {
                return at;
            }
            at = after(file, at);
        }
        return -1;
    }

    private static boolean isWhole(byte[] file, int at) {
        int left = file.length - at - HEADER_BYTES;
        return left >= 0 && little(file, at + 4) >= 0 && little(file, at + 4) <= left;
    }

    /** The position after the complete section at {@code at}. */
    private static int after(byte[] file, int at) {
        return at + HEADER_BYTES + little(file, at + 4);
    }

    /** Writes a section at {@code at}. Returns the position after it. */
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

    static void copy(InputStream from, OutputStream to, int most) throws IOException {
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
