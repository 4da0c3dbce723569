// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.screen;

import java.io.DataInputStream;
import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.zip.CRC32;

/**
 * What the screen shows of a report, read from its sections (docs/file-format.md). What is missing or damaged
 * stays empty: a process may have been ended while it wrote. Reading takes a while: not for the main thread.
 */
final class ReportFile {
    private static final int META = 0x4d455441;
    private static final int MAIN = 0x4d41494e;
    private static final int ANR = 0x414e5200;
    private static final int HIST = 0x48495354;
    private static final int SYMB = 0x53594d42;
    private static final int TREE = 0x54524545;
    private static final int LOCK = 0x4c4f434b;
    private static final int PEND = 0x50454e44;

    private static final int HEADER_BYTES = 16;

    /** How many bytes of a file are read at most. The recorder keeps 8 MB of reports in all. */
    private static final int MOST_BYTES = 16 << 20;

    /** A message that the history keeps by name. */
    static final class Detail {
        final long token;
        final long startNs;
        final long wallNs;
        final String name;

        Detail(long token, long startNs, long wallNs, String name) {
            this.token = token;
            this.startNs = startNs;
            this.wallNs = wallNs;
            this.name = name;
        }
    }

    /** The kinds of records, in the order of the format. */
    enum Kind {
        GROUP,
        SINGLE,
        IDLE,
        FROZEN,
        UNSEEN
    }

    /** An entry of the history. */
    static final class Entry {
        Kind kind;
        int count;
        long startNs;
        long wallNs;
        long workNs;
        long slowestToken = -1;
        long slowestNs;
        final List<Detail> details = new ArrayList<Detail>();
    }

    /** One step in the chain of locks that main waits for. */
    static final class Wait {
        String object;
        /** The thread that holds the lock; null where none does. */
        String holder;
        List<String> holderStack = Collections.emptyList();
    }

    String appVersion = "";
    String device = "";
    int apiLevel;
    List<String> annotations = new ArrayList<String>();

    /** The moment that the report describes, as uptime. */
    long asOfNs;

    /**
     * What main ran at the moment that the report describes: for example a message's name. Null when main was
     * idle, or when that is unknown.
     */
    String running;

    /**
     * The earliest uptime at which the work that {@link #running} names can have begun; -1 when {@link
     * #running} is null.
     */
    long runningSinceNs = -1;

    /** How long the running message took in all; -1 when it has not ended. */
    long endedAfterNs = -1;

    /** The entries of the history, oldest first. */
    List<Entry> history = new ArrayList<Entry>();

    /** The stacks of what main ran. */
    List<Stacks.Stack> stacks = new ArrayList<Stacks.Stack>();

    List<Wait> locks = new ArrayList<Wait>();
    boolean deadlock;
    List<String> queue = new ArrayList<String>();
    int queueLeftOut;

    /** The number of the message that ran, or of what ran outside of messages. */
    private long runningToken = -1;

    private final byte[] bytes;
    private Stacks.Symbols symbols = new Stacks.Symbols();
    private String reason = "";

    private ReportFile(byte[] bytes) {
        this.bytes = bytes;
    }

    /**
     * Reads a report.
     *
     * @throws IOException also when the file is no report of ours
     */
    static ReportFile read(File file) throws IOException {
        ReportFile report = new ReportFile(content(file));
        report.readSections();
        return report;
    }

    private static byte[] content(File file) throws IOException {
        long length = file.length();
        if (length > MOST_BYTES) {
            throw new IOException("a report of " + length + " bytes");
        }
        byte[] bytes = new byte[(int) length];
        DataInputStream in = new DataInputStream(new FileInputStream(file));
        try {
            in.readFully(bytes);
        } finally {
            in.close();
        }
        return bytes;
    }

    /** Reads all sections that are whole. In the file, symbols come before the stacks that use them. */
    private void readSections() throws IOException {
        if (bytes.length < HEADER_BYTES || big(0) != 0x894c4258 || big(4) != 0x0d0a1a0a) {
            throw new IOException("does not begin as a report");
        }
        int at = HEADER_BYTES;
        while (at + HEADER_BYTES <= bytes.length && sum(at, 12) == little(at + 12)) {
            int length = little(at + 4);
            int payload = at + HEADER_BYTES;
            if (length < 0 || length > bytes.length - payload) {
                return;
            }
            if (sum(payload, length) == little(at + 8)) {
                try {
                    read(big(at), new Decoder(bytes, payload, length));
                } catch (IOException contradicts) {
                    reason = contradicts.getMessage();
                }
            }
            at = payload + length;
        }
    }

    /** Why a section was left out although it is not damaged; empty when none was. */
    String leftOut() {
        return reason;
    }

    private void read(int tag, Decoder from) throws IOException {
        switch (tag) {
            case META:
                readMeta(from);
                break;
            case MAIN:
                readMain(from);
                break;
            case ANR:
                readAnr(from);
                break;
            case HIST:
                readHistory(from);
                break;
            case SYMB:
                symbols = Stacks.symbols(from);
                break;
            case TREE:
                List<Stacks.Stack> found = Stacks.of(from, symbols, runningToken);
                stacks = found == null ? stacks : found;
                break;
            case LOCK:
                readLocks(from);
                break;
            case PEND:
                readQueue(from);
                break;
            default:
                break;
        }
    }

    private void readMeta(Decoder from) throws IOException {
        from.text();
        int why = from.small();
        if (why == 0) {
            from.text();
        } else if (why == 2 && from.flag()) {
            from.signed();
        }
        from.number();
        from.text();
        apiLevel = from.small();
        from.text();
        appVersion = from.text();
        device = from.text();
        from.numberOrNone();
        from.number();
        asOfNs = from.number();
        // The clock's other half, then the limits.
        from.skipNumbers(7);
        for (int left = from.count(); left > 0; left--) {
            annotations.add(from.text() + "=" + from.text());
        }
    }

    private void readMain(Decoder from) throws IOException {
        int state = from.small();
        if (state == 2) {
            runningToken = from.number();
            runningSinceNs = from.number();
            asOfNs = from.number();
            from.numberOrNone();
            from.number();
            running = from.flag() ? message(from) : "a message without a name";
        } else if (state == 3) {
            runningToken = from.number();
            long afterNs = from.number();
            long startNs = from.numberOrNone();
            runningSinceNs = startNs < 0 ? afterNs : startNs;
            asOfNs = from.number();
            running = "something outside of messages";
        }
    }

    private void readAnr(Decoder from) throws IOException {
        from.skipNumbers(2);
        from.numberOrNone();
        from.skipNumbers(2);
        endedAfterNs = from.numberOrNone();
    }

    private void readHistory(Decoder from) throws IOException {
        for (int left = from.count(); left > 0; left--) {
            Entry entry = new Entry();
            int kind = from.small();
            if (kind < 0 || kind >= Kind.values().length) {
                throw new IOException("a record of kind " + kind);
            }
            entry.kind = Kind.values()[kind];
            from.skipNumbers(2);
            entry.count = from.small();
            entry.startNs = from.number();
            entry.wallNs = from.number();
            entry.workNs = from.number();
            from.number();
            from.numberOrNone();
            from.numberOrNone();
            if (from.flag()) {
                entry.slowestToken = from.number();
                entry.slowestNs = from.number();
            }
            for (int details = from.count(); details > 0; details--) {
                entry.details.add(detail(from));
            }
            from.number();
            from.flag();
            history.add(entry);
        }
    }

    private static Detail detail(Decoder from) throws IOException {
        long token = from.number();
        long startNs = from.number();
        long wallNs = from.number();
        from.numberOrNone();
        from.number();
        return new Detail(token, startNs, wallNs, from.flag() ? message(from) : "");
    }

    /** The message's name, as in the digest. */
    private static String message(Decoder from) throws IOException {
        String target = from.text();
        String callback = from.text();
        boolean isNumbered = from.flag();
        int what = isNumbered ? from.signed() : 0;
        from.numberOrNone();
        from.number();
        String name = callback.isEmpty() ? target : callback;
        return isNumbered && (what != 0 || callback.isEmpty()) ? name + " what=" + what : name;
    }

    private void readLocks(Decoder from) throws IOException {
        from.number();
        List<Wait> waits = new ArrayList<Wait>();
        for (int left = from.count(); left > 0; left--) {
            Wait wait = new Wait();
            String type = from.text();
            String of = from.text();
            wait.object = of.isEmpty() ? "a " + (type.isEmpty() ? "lock" : type) : "the class " + of;
            if (from.flag()) {
                wait.holder = from.text() + " (tid " + from.small() + ")";
                wait.holderStack = Stacks.bottomFirst(from, symbols);
            }
            waits.add(wait);
        }
        deadlock = from.flag();
        locks = waits;
    }

    private void readQueue(Decoder from) throws IOException {
        if (from.small() == 2) {
            from.text();
        }
        from.number();
        for (int left = from.count(); left > 0; left--) {
            queue.add(from.text());
        }
        queueLeftOut = from.small();
    }

    private int sum(int from, int length) {
        CRC32 sum = new CRC32();
        sum.update(bytes, from, length);
        return (int) sum.getValue();
    }

    private int big(int at) {
        return Integer.reverseBytes(little(at));
    }

    private int little(int at) {
        return bytes[at] & 0xff | (bytes[at + 1] & 0xff) << 8 | (bytes[at + 2] & 0xff) << 16 | bytes[at + 3] << 24;
    }
}
