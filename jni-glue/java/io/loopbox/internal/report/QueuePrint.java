// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal.report;

import android.os.Looper;
import android.util.Printer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;

/**
 * The main Looper's queue, printed by the public Looper.dump. That calls toString of each message's obj,
 * which is the app's code. Most queues print under a lock that main needs, too. So the dump of such a queue
 * is stopped before its first message. Since API 36 a queue names its kind before it prints a message, and
 * two kinds take no lock.
 *
 * <p>These two do not print in the order of time. So the messages that are due first are kept, wherever they
 * are printed. Lines that are not messages are kept as well.
 */
final class QueuePrint implements Printer, Runnable {
    /**
     * How many characters a message's line usually has at most. A line is longer only when the message's
     * {@code obj} is printed as a long text.
     */
    private static final int LINE_CHARS = 1_024;

    /**
     * How many lines that are not messages are kept: headings, totals, and others that a newer queue may
     * print.
     */
    private static final int MOST_OTHERS = 20;

    private static final class Line {
        final int place;
        final long dueMs;

        /** The order of messages with the same time: the smallest is due first. */
        final int turn;

        final String text;

        Line(int place, long dueMs, int turn, String text) {
            this.place = place;
            this.dueMs = dueMs;
            this.turn = turn;
            this.text = text;
        }
    }

    private static final Comparator<Line> LATEST_FIRST =
            new Comparator<Line>() {
                @Override
                public int compare(Line one, Line other) {
                    int order = Long.compare(other.dueMs, one.dueMs);
                    return order != 0 ? order : Integer.compare(other.turn, one.turn);
                }
            };

    private static final Comparator<Line> AS_PRINTED =
            new Comparator<Line>() {
                @Override
                public int compare(Line one, Line other) {
                    return Integer.compare(one.place, other.place);
                }
            };

    /** Leaves Looper.dump from inside of println. */
    private static final class Stop extends RuntimeException {
        /** Leaves the stack trace out. The constructor that does this is there only since Android 7. */
        @Override
        public Throwable fillInStackTrace() {
            return this;
        }
    }

    private final int mostLines;
    private final PriorityQueue<Line> messages;
    private final List<Line> others = new ArrayList<Line>();
    private int printed;
    private boolean lockFree;

    /**
     * Whether messages of the same time are printed now in the order in which they were posted. The newest
     * messages are still on a stack, which is printed first, from its top, so the last posted comes first.
     * The messages that were taken from that stack are printed after it, in order.
     */
    private boolean inOrder;

    private boolean closed;
    private String failure;

    /** Whether the queue prints under its lock. */
    private boolean locks;

    QueuePrint(int mostLines) {
        this.mostLines = mostLines;
        messages = new PriorityQueue<Line>(mostLines + 1, LATEST_FIRST);
    }

    /** Prints the queue of the main Looper. On a thread that may run the app's code. */
    @Override
    public void run() {
        try {
            Looper.getMainLooper().dump(this, "");
        } catch (Stop enough) {
            // Closed, or a queue with a lock.
        } catch (Throwable fault) {
            // Not what it says: that may be of the obj's making.
            note("failed: " + fault.getClass().getName());
        }
    }

    @Override
    public synchronized void println(String line) {
        if (closed) {
            throw new Stop();
        }
        if (!lockFree && !names(line)) {
            return;
        }
        int place = printed++;
        boolean message = line.trim().startsWith("Message ") && line.contains("{ when=");
        if (message) {
            messages.add(new Line(place, dueMs(line), inOrder ? place : Integer.MAX_VALUE - place, head(line)));
            if (messages.size() > mostLines) {
                messages.poll();
            }
        } else {
            inOrder |= line.endsWith("Messages: ");
            if (others.size() == MOST_OTHERS) {
                // The last line has the total.
                others.remove(MOST_OTHERS - 1);
            }
            others.add(new Line(place, 0, 0, head(line)));
        }
    }

    /**
     * Recognises the queue's kind by the lines before the messages; leaves Looper.dump when the queue prints
     * under its lock. Returns whether the line is to be kept.
     */
    private boolean names(String line) {
        String text = line.trim();
        if (text.startsWith("Looper (")) {
            return true;
        }
        lockFree = text.startsWith("(MessageQueue is using DeliQueue") || text.startsWith("(MessageQueue is using Concurrent");
        if (!lockFree) {
            locks = true;
            throw new Stop();
        }
        return true;
    }

    /** Whether the queue prints under its lock. If so, the print was stopped before the first message. */
    synchronized boolean locks() {
        return locks;
    }

    synchronized void note(String what) {
        if (failure == null) {
            failure = what;
        }
    }

    synchronized String failure() {
        return failure;
    }

    /** Keeps no more lines from now on; returns those printed so far. */
    synchronized List<String> close() {
        closed = true;
        List<Line> kept = new ArrayList<Line>(messages);
        kept.addAll(others);
        Collections.sort(kept, AS_PRINTED);
        List<String> lines = new ArrayList<String>(kept.size());
        for (Line line : kept) {
            lines.add(line.text);
        }
        return lines;
    }

    /** How many lines were printed and not kept. */
    synchronized int dropped() {
        return printed - messages.size() - others.size();
    }

    /** A message's line without the middle part of a long obj. The end of the line names the target. */
    static String head(String line) {
        if (line.length() <= LINE_CHARS) {
            return line;
        }
        return line.substring(0, LINE_CHARS * 3 / 4) + '\u2026' + line.substring(line.length() - LINE_CHARS / 4);
    }

    /**
     * The time in ms that TimeUtils.formatDuration has written after {@code when=}: {@code 0}, {@code
     * +120ms}, {@code -1m2s0ms}.
     */
    static long dueMs(String line) {
        int at = line.indexOf("when=") + 5;
        boolean past = line.startsWith("-", at);
        long ms = 0;
        long number = 0;
        for (; at < line.length() && line.charAt(at) != ' '; at++) {
            char c = line.charAt(at);
            if (c >= '0' && c <= '9') {
                number = number * 10 + (c - '0');
                continue;
            }
            boolean ends = c == 'm' && line.startsWith("ms", at);
            ms += number * (c == 'd' ? 86_400_000L : c == 'h' ? 3_600_000L : c == 'm' && !ends ? 60_000L : c == 's' ? 1_000L : 1L);
            number = 0;
            if (ends) {
                break;
            }
        }
        return past ? -ms : ms;
    }
}
