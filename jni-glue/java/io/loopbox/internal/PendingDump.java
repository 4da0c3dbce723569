// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal;

import android.os.Looper;
import android.util.Log;
import android.util.Printer;
import java.util.ArrayList;
import java.util.List;

/**
 * What the main Looper's queue holds, printed by the public Looper.dump or read by a {@link QueueWalk}. Printing runs the
 * toString of queued objects, which is the app's code, and holds the queue's lock; so it has a thread, a time and a size
 * of its own. The {@link RuntimeStatistics} are read on that thread, too.
 */
final class PendingDump implements Printer, Runnable {
    /** One record is one line; what is longer is an obj that prints itself at length. */
    private static final int LINE_CHARS = 1_024;

    private final boolean redacts;
    private final boolean walk;
    private final int mostLines;
    private final long deadlineNs;
    private int bytesLeft;
    private final List<String> collected = new ArrayList<String>();
    private boolean closed;

    // Read by the native side by name.
    String[] statistics = {};
    String[] lines;
    int dropped;
    String failure;
    boolean walked;

    private PendingDump(boolean redacts, boolean walk, int mostLines, int mostBytes, long mostMs) {
        this.redacts = redacts;
        this.walk = walk;
        this.mostLines = mostLines;
        this.bytesLeft = mostBytes;
        this.deadlineNs = System.nanoTime() + mostMs * 1_000_000L;
    }

    /** Called by the native side on its worker thread. Never null; without lines it says why. */
    static PendingDump collect(boolean redacts, boolean walk, int mostLines, int mostBytes, long mostMs) {
        PendingDump dump = new PendingDump(redacts, walk, mostLines, mostBytes, mostMs);
        try {
            Thread thread = new Thread(dump, "loopbox-pending");
            thread.setDaemon(true);
            thread.start();
            thread.join(mostMs);
            if (thread.isAlive()) {
                dump.note("not complete within " + mostMs + " ms");
            }
        } catch (InterruptedException stopped) {
            dump.note("interrupted");
        } catch (OutOfMemoryError full) {
            dump.note("no memory for a thread");
        }
        dump.close();
        return dump;
    }

    @Override
    public void run() {
        readStatistics();
        try {
            if (walk && walks()) {
                return;
            }
            Looper.getMainLooper().dump(this, "");
        } catch (Stop enough) {
            note("stopped: time is up");
        } catch (Throwable fault) {
            // Not what it says: that may be of the obj's making.
            note("failed: " + fault.getClass().getName());
        }
    }

    /** First: it takes microseconds, and the queue may be locked for long. */
    private void readStatistics() {
        try {
            put(RuntimeStatistics.read(redacts));
        } catch (Throwable fault) {
            Log.i(Tag.LOOPBOX, "the runtime's statistics cannot be read: " + fault);
        }
    }

    private synchronized void put(String[] read) {
        if (!closed) {
            statistics = read;
        }
    }

    private boolean walks() {
        try {
            walked = QueueWalk.print(mostLines, this);
            return walked;
        } catch (ReflectiveOperationException refused) {
            Log.i(Tag.LOOPBOX, "the queue cannot be walked, so it is printed: " + refused);
            return false;
        } catch (LinkageError absent) {
            // Looper.getQueue, which is the lock, is there since API 23.
            Log.i(Tag.LOOPBOX, "the queue cannot be walked, so it is printed: " + absent);
            return false;
        }
    }

    @Override
    public synchronized void println(String line) {
        if (closed || System.nanoTime() - deadlineNs > 0) {
            throw new Stop();
        }
        String kept = line.length() <= LINE_CHARS ? line : head(line);
        if (collected.size() < mostLines && kept.length() <= bytesLeft) {
            bytesLeft -= kept.length();
            collected.add(kept);
        } else {
            dropped++;
        }
    }

    /** The start and the end, which names the target; obj is in between. */
    private static String head(String line) {
        return line.substring(0, LINE_CHARS * 3 / 4) + '\u2026' + line.substring(line.length() - LINE_CHARS / 4);
    }

    private synchronized void note(String what) {
        if (failure == null) {
            failure = what;
        }
    }

    private synchronized void close() {
        closed = true;
        if (failure != null && !collected.isEmpty()) {
            // A reader of the lines must not take them for the whole queue.
            collected.add("Loopbox: " + failure);
        }
        lines = collected.toArray(new String[0]);
    }

    /** Leaves Looper.dump, and with it the queue's lock, from inside of println. */
    private static final class Stop extends RuntimeException {
        /** The constructor that leaves the stack trace out is there only since Android 7. */
        @Override
        public Throwable fillInStackTrace() {
            return this;
        }
    }
}
