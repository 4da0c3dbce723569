// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal.report;

import io.loopbox.internal.platform.Exit;
import io.loopbox.internal.platform.OwnFile;
import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.CRC32;

/**
 * The first section of a report, as {@link #read} finds it in the file. The section is plain text, because
 * this class reads nothing else of the format (docs/file-format.md). It has one line each for the reason,
 * process name, process id, time, digest, verdict, state of writing, label, the app's version, duration of
 * what the report is about, fingerprint, title and annotations. Then come the frames of the stack, one a
 * line, and the system's warnings of an ANR.
 */
public final class Digest {
    public static final Digest NONE = new Digest(new String[] {"unreadable"});

    private static final long MAGIC = 0x894c42580d0a1a0aL;
    private static final int TAG = 0x44494745; // DIGE
    private static final int HEADER_BYTES = 32;
    private static final int FIRST_FRAME = 13;

    /** A line with a warning of the system begins with this. These lines follow the frames. */
    private static final String WARNING = "anr_warning\t";

    private static final int MOST_BYTES = 32 << 10;

    public final String reason;
    public final String process;
    public final long pid;
    public final long timeMs;
    public final String line;
    public final String verdict;
    public final String state;
    public final String label;

    public final String appVersion;
    public final long durationMs;
    public final String fingerprint;
    public final String title;
    private final String[] lines;

    private Digest(String[] lines) {
        reason = at(lines, 0);
        process = at(lines, 1);
        pid = number(at(lines, 2));
        timeMs = number(at(lines, 3));
        line = at(lines, 4);
        verdict = at(lines, 5);
        state = at(lines, 6);
        label = at(lines, 7);
        appVersion = at(lines, 8);
        durationMs = number(at(lines, 9));
        fingerprint = at(lines, 10);
        title = at(lines, 11);
        this.lines = lines;
    }

    /** The values of the annotations by their names, in the order in which the app has set them. */
    public Map<String, String> annotations() {
        Map<String, String> annotations = new LinkedHashMap<String, String>();
        String[] parts = at(lines, 12).split("\t", -1);
        for (int nth = 0; nth + 1 < parts.length; nth += 2) {
            annotations.put(parts[nth], parts[nth + 1]);
        }
        return annotations;
    }

    /** The frames of the stack, the innermost first. */
    public StackTraceElement[] stack() {
        List<StackTraceElement> frames = new ArrayList<StackTraceElement>();
        for (int nth = FIRST_FRAME; nth < lines.length; nth++) {
            String[] parts = lines[nth].split("\t", -1);
            if (parts.length == 4) {
                String file = parts[2].isEmpty() ? null : parts[2];
                frames.add(new StackTraceElement(parts[0], parts[1], file, (int) number(parts[3])));
            }
        }
        return frames.toArray(new StackTraceElement[0]);
    }

    /**
     * The system's warnings of an ANR, oldest first. Each has four numbers: its id, its type, the part of the
     * time-out that had passed and the whole time-out, both in ms.
     */
    public List<long[]> warnings() {
        List<long[]> warnings = new ArrayList<long[]>();
        for (int nth = FIRST_FRAME; nth < lines.length; nth++) {
            if (lines[nth].startsWith(WARNING)) {
                warnings.add(numbers(lines[nth].substring(WARNING.length()).split("\t", -1)));
            }
        }
        return warnings;
    }

    /** The first four of the texts as numbers; 0 for one that is missing or no number. */
    public static long[] numbers(String[] texts) {
        return new long[] {number(at(texts, 0)), number(at(texts, 1)), number(at(texts, 2)), number(at(texts, 3))};
    }

    /** Whether the writing process has added everything that belongs into every report. */
    public boolean isComplete() {
        return state.equals("open") || state.equals("closed");
    }

    /** Whether the writing process may add more. */
    boolean isOpen() {
        return state.equals("open") || state.equals("first");
    }

    /**
     * Whether the report is of an ANR of its process: the system reports it, or has sent its signal while the
     * main thread was busy.
     */
    boolean isAnr() {
        return (verdict.equals("confirmed") || verdict.equals("probable")) && !reason.equals("requested") && !reason.equals("crash");
    }

    private static String at(String[] lines, int at) {
        return at < lines.length ? lines[at] : "";
    }

    private static long number(String text) {
        try {
            return Long.parseLong(text);
        } catch (NumberFormatException none) {
            return 0;
        }
    }

    /**
     * Reads the digest of a report.
     *
     * @throws IOException also when the file is none of ours, or cut or damaged in its first section
     */
    public static Digest read(File file) throws IOException {
        byte[] start = OwnFile.read(file, HEADER_BYTES + MOST_BYTES);
        if (start.length < HEADER_BYTES
                || big(start, 0) != (int) (MAGIC >>> 32)
                || big(start, 4) != (int) MAGIC
                || big(start, 16) != TAG) {
            throw new IOException("does not begin as a report");
        }
        int length = little(start, 20);
        if (length < 0 || length > MOST_BYTES) {
            throw new IOException("a digest of " + length + " bytes");
        }
        if (length > start.length - HEADER_BYTES) {
            throw new IOException("cut in its digest");
        }
        CRC32 sum = new CRC32();
        sum.update(start, HEADER_BYTES, length);
        if ((int) sum.getValue() != little(start, 24)) {
            throw new IOException("the digest is damaged");
        }
        return new Digest(new String(start, HEADER_BYTES, length, "UTF-8").split("\n", -1));
    }

    private static int big(byte[] bytes, int at) {
        return Integer.reverseBytes(little(bytes, at));
    }

    private static int little(byte[] bytes, int at) {
        return bytes[at] & 0xff | (bytes[at + 1] & 0xff) << 8 | (bytes[at + 2] & 0xff) << 16 | bytes[at + 3] << 24;
    }

    /**
     * How the report's process ended, picked from the system's record of ended processes; null when it is not
     * known.
     */
    public Exit exit(Exit[] exits) {
        return Exit.find(exits, process, (int) pid, timeMs, warnings());
    }
}
