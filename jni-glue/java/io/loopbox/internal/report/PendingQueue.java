// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal.report;

import android.os.Build;
import android.os.SystemClock;
import io.loopbox.internal.platform.Faults;
import io.loopbox.internal.platform.ReservedThread;
import io.loopbox.internal.recording.Settings;
import java.util.ArrayList;
import java.util.List;

/**
 * Reads the main Looper's queue. It walks the queue's list if it can read that. Otherwise it calls
 * Looper.dump, but only if that takes no lock; else it reads nothing. No code of the app ever runs under the
 * queue's lock. The lines have the form of Looper.dump; the messages that are due first are kept. The {@link
 * RuntimeStatistics} are read in the same call.
 *
 * <p>The reading has a separate thread and a time limit: the first use of a class here may have to wait for a
 * class that main is loading.
 */
public final class PendingQueue implements Runnable {
    /** Build.VERSION_CODES.BAKLAVA. Since this version a queue shows whether it prints under its lock. */
    private static final int ANDROID_16 = 36;

    /**
     * The thread that reads the queue. Null while nothing is recorded, and where there was no memory for it.
     */
    private static volatile ReservedThread reader;

    /** Runs toString of queued objects, without holding a lock. Null where toString is never called. */
    private static volatile ReservedThread objects;

    private final boolean redacts;
    private final boolean mayReflect;
    private final boolean keepObjects;
    private final int mostLines;
    private final long mostMs;
    private final long deadlineNs;
    private final List<String> collected = new ArrayList<String>();
    private int bytesLeft;
    private boolean closed;

    // Read by the native side by name.
    String[] statistics = {};
    String[] lines = {};
    int dropped;
    String failure;
    boolean walked;

    private PendingQueue(
            boolean redacts, boolean mayReflect, boolean keepObjects, int mostLines, int mostBytes, long mostMs) {
        this.redacts = redacts;
        this.mayReflect = mayReflect;
        this.keepObjects = keepObjects;
        this.mostLines = mostLines;
        this.mostMs = mostMs;
        bytesLeft = mostBytes;
        deadlineNs = System.nanoTime() + mostMs * 1_000_000L;
    }

    /** Starts the threads that reports may need. On the main thread. */
    public static void begin(Settings settings) {
        reader = ReservedThread.start("loopbox-pending");
        if (settings.keepObjects || Build.VERSION.SDK_INT >= ANDROID_16) {
            objects = ReservedThread.start("loopbox-objects");
        }
    }

    /** Ends the threads. On the main thread. */
    public static void end() {
        for (ReservedThread thread : new ReservedThread[] {reader, objects}) {
            if (thread != null) {
                thread.end();
            }
        }
        reader = null;
        objects = null;
    }

    /**
     * Reads the queue. Called by the native side on its worker thread. The result is never null; where lines
     * are missing it has the reason.
     */
    static PendingQueue collect(
            boolean redacts, boolean mayReflect, boolean keepObjects, int mostLines, int mostBytes, long mostMs) {
        PendingQueue queue = new PendingQueue(redacts, mayReflect, keepObjects, mostLines, mostBytes, mostMs);
        try {
            // What is asked of the other thread has the same time again.
            String late = run(reader, queue, 2 * mostMs);
            if (late != null) {
                queue.note(late);
            }
        } catch (InterruptedException stopped) {
            queue.note("interrupted");
        }
        queue.close();
        return queue;
    }

    /**
     * What holds main's messages back, as {@link QueueWalk#front} returns it; null where that is not known.
     * Called by the native side on its worker thread.
     */
    static long[] front(long mostMs) {
        Front front = new Front(System.nanoTime() + mostMs * 1_000_000L);
        try {
            return run(reader, front, mostMs) == null ? front.found : null;
        } catch (InterruptedException stopped) {
            return null;
        }
    }

    /** One read of the front of the queue. */
    private static final class Front implements Runnable {
        private final long deadlineNs;
        volatile long[] found;

        Front(long deadlineNs) {
            this.deadlineNs = deadlineNs;
        }

        @Override
        public void run() {
            try {
                found = QueueWalk.front(deadlineNs);
            } catch (ReflectiveOperationException refused) {
                // It stays unknown; the report's queue says why.
            } catch (LinkageError absent) {
                // The same.
            }
        }
    }

    private static String run(ReservedThread thread, Runnable task, long ms) throws InterruptedException {
        return thread == null ? "there is no thread for it" : thread.run(task, ms);
    }

    @Override
    public void run() {
        try {
            put(RuntimeStatistics.read(redacts));
        } catch (Throwable fault) {
            Faults.log(fault);
        }
        try {
            read();
        } catch (Throwable fault) {
            note("failed: " + fault.getClass().getName());
        }
    }

    private synchronized void put(String[] read) {
        if (!closed) {
            statistics = read;
        }
    }

    private void read() throws InterruptedException {
        String refused = "hiddenApi NONE forbids to walk it";
        if (mayReflect) {
            try {
                QueueWalk walk = QueueWalk.read(mostLines, deadlineNs);
                // A queue without a lock keeps its messages elsewhere.
                if (walk.kept > 0 || Build.VERSION.SDK_INT < ANDROID_16 || !print()) {
                    put(walk);
                }
                return;
            } catch (ReflectiveOperationException absent) {
                refused = "walking it is refused: " + absent;
            } catch (LinkageError absent) {
                refused = "walking it is refused: " + absent;
            }
        }
        if (Build.VERSION.SDK_INT < ANDROID_16 || !print()) {
            note(refused + "; printing it would run code of the app under its lock");
        }
    }

    /**
     * Prints the queue, and adds its lines. Returns false when the queue prints under its lock; then nothing
     * is added.
     */
    private boolean print() throws InterruptedException {
        QueuePrint print = new QueuePrint(mostLines);
        String late = run(objects, print, mostMs);
        List<String> printed = print.close();
        if (print.locks()) {
            return false;
        }
        if (print.failure() != null) {
            note(print.failure());
        }
        if (late != null) {
            note(late);
        }
        add(printed, print.dropped(), false);
        return true;
    }

    private void put(QueueWalk walk) throws InterruptedException {
        String[] texts = keepObjects ? texts(walk) : new String[walk.kept];
        List<String> walked = new ArrayList<String>(walk.kept + 1);
        long now = SystemClock.uptimeMillis();
        StringBuilder text = new StringBuilder();
        for (int at = 0; at < walk.kept; at++) {
            text.setLength(0);
            text.append("  Message ").append(at).append(": ");
            append(text, walk.entries[at], now, texts[at]);
            walked.add(QueuePrint.head(text.toString()));
        }
        if (walk.total < 0) {
            note("its messages could not be counted: it is too long, or changes too fast");
        } else {
            walked.add("  (Total messages: " + walk.total + ")");
        }
        if (!walk.settled) {
            note("it changed while it was read");
        }
        add(walked, Math.max(0, walk.total - walk.kept), true);
    }

    /** The texts of the objects, as far as they are ready in time. */
    private String[] texts(final QueueWalk walk) throws InterruptedException {
        final String[] texts = new String[walk.kept];
        String late =
                run(
                        objects,
                        new Runnable() {
                            @Override
                            public void run() {
                                for (int at = 0; at < texts.length; at++) {
                                    put(at, text(walk.entries[at].object));
                                }
                            }

                            private void put(int at, String text) {
                                synchronized (texts) {
                                    texts[at] = text;
                                }
                            }
                        },
                        mostMs);
        if (late != null) {
            note(late);
        }
        synchronized (texts) {
            return texts.clone();
        }
    }

    private static String text(Object object) {
        try {
            return object == null ? null : object.toString();
        } catch (Throwable fault) {
            // Not what it says: that may be of the obj's making.
            return "(" + fault.getClass().getName() + ")";
        }
    }

    /** Appends a message in the form of Message.toString, so that readers need only one grammar. */
    private static void append(StringBuilder text, QueueWalk.Entry entry, long now, String object) {
        text.append("{ when=");
        appendDuration(text, entry.when - now);
        if (entry.target == null) {
            text.append(" barrier=").append(entry.arg1).append(" }");
            return;
        }
        if (entry.callback != null) {
            text.append(" callback=").append(entry.callback.getName());
        } else {
            text.append(" what=").append(entry.what);
        }
        if (entry.arg1 != 0) {
            text.append(" arg1=").append(entry.arg1);
        }
        if (entry.arg2 != 0) {
            text.append(" arg2=").append(entry.arg2);
        }
        if (object != null) {
            text.append(" obj=").append(object);
        } else if (entry.object != null) {
            text.append(" obj=\u2026");
        }
        text.append(" target=").append(entry.target.getName()).append(" }");
    }

    /**
     * Adds these lines as far as there is room for them. The last line has the total, and is always added.
     */
    private synchronized void add(List<String> read, int more, boolean byWalk) {
        if (closed) {
            return;
        }
        walked = byWalk;
        dropped = more;
        for (int at = 0; at < read.size(); at++) {
            String line = read.get(at);
            if (line.length() <= bytesLeft || at == read.size() - 1) {
                bytesLeft -= line.length();
                collected.add(line);
            } else {
                dropped++;
            }
        }
    }

    private synchronized void note(String what) {
        if (failure == null && !closed) {
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

    /**
     * Appends a duration in the format of TimeUtils.formatDuration: {@code 0}, {@code +120ms}, {@code
     * -1m2s0ms}.
     */
    static void appendDuration(StringBuilder text, long ms) {
        if (ms == 0) {
            text.append('0');
            return;
        }
        text.append(ms < 0 ? '-' : '+');
        long left = Math.abs(ms);
        long[] units = {86_400_000, 3_600_000, 60_000, 1_000};
        char[] names = {'d', 'h', 'm', 's'};
        boolean begun = false;
        for (int i = 0; i < units.length; i++) {
            long count = left / units[i];
            left %= units[i];
            begun |= count != 0;
            if (begun) {
                text.append(count).append(names[i]);
            }
        }
        text.append(left).append("ms");
    }
}
