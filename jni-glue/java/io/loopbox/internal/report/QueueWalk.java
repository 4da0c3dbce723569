// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal.report;

import android.os.Handler;
import android.os.Looper;
import android.os.Message;
import android.os.MessageQueue;
import android.os.SystemClock;
import java.lang.reflect.Field;
import java.util.Arrays;

/**
 * The main Looper's queue, read from the linked list behind MessageQueue.mMessages by reflection. No lock is
 * taken and no code of the app runs, so main never waits for it. Works up to API 36, except with the
 * lock-free queues of 36 and 37, which keep that field null.
 *
 * <p>Without the lock the list may change while it is read. A message that main removes has no successor any
 * more, and a recycled one has the pool's successor. So the list is read until two passes agree.
 */
final class QueueWalk {
    /** How often a list that keeps changing is read at most. */
    private static final int MOST_PASSES = 16;

    /** A pass that was misled, into a circle or another queue, ends after this many messages. */
    private static final int MOST_VISITED = 1_000_000;

    /** The clock is read after this many messages. */
    private static final int VISITS_PER_CHECK = 64;

    /**
     * A message counts as overdue when it has been due for this long. Until then main may be about to take
     * it.
     */
    private static final long OVERDUE_MS = 500;

    /** For {@link #front}: main could take every message that is due. */
    private static final long FREE = -2;

    /** For {@link #front}: the first entry is an overdue message, not a barrier. */
    private static final long OVERDUE = -1;

    /** The copied fields of a message. They are converted to text later. */
    static final class Entry {
        private final Message message;
        private final Handler handler;
        final long when;
        final int what;
        final int arg1;
        final int arg2;
        final Class<?> target;
        final Class<?> callback;
        final Object object;

        Entry(Message message) {
            this.message = message;
            when = message.getWhen();
            what = message.what;
            arg1 = message.arg1;
            arg2 = message.arg2;
            handler = message.getTarget();
            target = classOf(handler);
            callback = classOf(message.getCallback());
            object = message.obj;
        }

        /**
         * The class of the object; null for none. Main may recycle the message meanwhile, so the caller reads
         * each field once.
         */
        private static Class<?> classOf(Object object) {
            return object == null ? null : object.getClass();
        }

        /**
         * Whether the entry was a message of this Looper's queue while it was copied. A recycled message has
         * neither a target nor a time, and may get both again in another queue.
         */
        boolean isOf(Looper looper) {
            boolean still = message.getWhen() == when && message.getTarget() == handler;
            return still && (handler == null ? when != 0 : handler.getLooper() == looper);
        }

        boolean isSame(Entry other) {
            return message == other.message && when == other.when && what == other.what && target == other.target;
        }
    }

    private static volatile Field headField;
    private static volatile Field nextField;

    /** One pass over the list. */
    private static final class Pass {
        final Entry[] entries;
        int kept;
        int total;
        /**
         * Whether the pass is complete: it has read to the end of the list or, if it does not count all
         * messages, until it had all entries to keep. It is not complete if a message on the way had left the
         * queue.
         */
        boolean whole;

        Pass(int most) {
            entries = new Entry[most];
        }

        boolean isFull() {
            return kept == entries.length;
        }
    }

    private final Field head;
    private final Field next;
    private final Looper looper;
    private final MessageQueue queue;
    private final int most;
    private final long deadlineNs;

    /** The messages in the order of the list. The first {@code kept} elements are valid. */
    Entry[] entries = {};
    int kept;
    /** How many messages the queue has; -1 where they were not counted to the end. */
    int total = -1;
    /** Whether all entries were in the queue at one moment. */
    boolean settled;

    private QueueWalk(Field head, Field next, Looper looper, int most, long deadlineNs) {
        this.head = head;
        this.next = next;
        this.looper = looper;
        queue = looper.getQueue();
        this.most = most;
        this.deadlineNs = deadlineNs;
    }

    /**
     * Reads at most {@code most} messages, and counts all.
     *
     * @throws ReflectiveOperationException when a field is refused, or not there
     * @throws LinkageError when Looper.getQueue is not there
     */
    static QueueWalk read(int most, long deadlineNs) throws ReflectiveOperationException {
        QueueWalk walk = of(most, deadlineNs);
        walk.readUntilSettled();
        return walk;
    }

    private static QueueWalk of(int most, long deadlineNs) throws ReflectiveOperationException {
        if (nextField == null) {
            headField = accessible(MessageQueue.class, "mMessages");
            nextField = accessible(Message.class, "next");
        }
        return new QueueWalk(headField, nextField, Looper.getMainLooper(), most, deadlineNs);
    }

    private static Field accessible(Class<?> type, String name) throws NoSuchFieldException {
        Field field = type.getDeclaredField(name);
        field.setAccessible(true);
        return field;
    }

    /**
     * What keeps main from its messages, if anything does.
     *
     * @return two numbers; null where the list changes all the time. For a barrier, these are its token, and
     *     when the first synchronous message behind it was due (0 without such a message). For an overdue
     *     message, these are {@link #OVERDUE}, and when it was due. Otherwise these are {@link #FREE} and 0
     * @throws ReflectiveOperationException when a field is refused, or not there
     * @throws LinkageError when Looper.getQueue is not there
     */
    static long[] front(long deadlineNs) throws ReflectiveOperationException {
        QueueWalk walk = of(0, deadlineNs);
        long[] last = walk.frontOnce();
        for (int passes = 1; passes < MOST_PASSES && !walk.isLate(); passes++) {
            long[] again = walk.frontOnce();
            if (last != null && Arrays.equals(last, again)) {
                return last;
            }
            last = again;
        }
        return null;
    }

    /** One pass over the front of the list; null where it changed during the pass, or is too long. */
    private long[] frontOnce() throws IllegalAccessException {
        long nowMs = SystemClock.uptimeMillis();
        Message message = (Message) head.get(queue);
        Entry first = null;
        for (int visited = 0; message != null; visited++) {
            if (visited == MOST_VISITED || (visited % VISITS_PER_CHECK == VISITS_PER_CHECK - 1 && isLate())) {
                return null;
            }
            Entry entry = new Entry(message);
            boolean passes = message.isAsynchronous();
            Message after = (Message) next.get(message);
            if (!entry.isOf(looper)) {
                return null;
            }
            boolean isDue = entry.when <= nowMs;
            if (first == null && entry.target != null) {
                boolean overdue = entry.when != 0 && nowMs - entry.when >= OVERDUE_MS;
                return overdue ? new long[] {OVERDUE, entry.when} : new long[] {FREE, 0};
            }
            if (first == null) {
                first = entry;
            } else if (passes && isDue) {
                // Main takes it, whatever waits.
                return new long[] {FREE, 0};
            } else if (!passes && entry.target != null) {
                return new long[] {first.arg1, isDue ? entry.when : 0};
            }
            message = after;
        }
        return first == null ? new long[] {FREE, 0} : new long[] {first.arg1, 0};
    }

    private void readUntilSettled() throws IllegalAccessException {
        Pass last = pass(true);
        for (int passes = 1; !settled && passes < MOST_PASSES && !isLate(); passes++) {
            Pass again = pass(false);
            if (agree(last, again)) {
                settled = true;
            } else if (again.whole || !last.whole) {
                last = pass(true);
            }
        }
        entries = last.entries;
        kept = last.kept;
        total = last.whole ? last.total : -1;
    }

    /**
     * One pass over the list. With {@code count} it goes on to the end, else until all entries to keep are
     * read.
     */
    private Pass pass(boolean count) throws IllegalAccessException {
        Pass pass = new Pass(most);
        Message message = (Message) head.get(queue);
        while (message != null && (count || !pass.isFull())) {
            boolean check = pass.total % VISITS_PER_CHECK == VISITS_PER_CHECK - 1;
            if (pass.total == MOST_VISITED || (check && isLate())) {
                return pass;
            }
            Entry entry = pass.isFull() ? null : new Entry(message);
            Message after = (Message) next.get(message);
            if (entry != null) {
                if (!entry.isOf(looper)) {
                    return pass;
                }
                pass.entries[pass.kept++] = entry;
            } else if (message.getTarget() == null && message.getWhen() == 0) {
                // It was recycled. A barrier has no target, but it has a time.
                return pass;
            }
            pass.total++;
            message = after;
        }
        pass.whole = true;
        return pass;
    }

    /**
     * Whether the first pass saw the list as it was at one moment: the second pass sees the same, except for
     * messages that have left the front since.
     */
    static boolean agree(Pass first, Pass second) {
        if (!first.whole || !second.whole) {
            return false;
        }
        if (second.kept == 0) {
            return first.kept == 0;
        }
        int left = 0;
        while (left < first.kept && first.entries[left].message != second.entries[0].message) {
            left++;
        }
        int remain = first.kept - left;
        boolean fits = first.isFull() ? second.kept >= remain : second.kept == remain;
        for (int at = 0; fits && at < remain; at++) {
            fits = first.entries[left + at].isSame(second.entries[at]);
        }
        return fits && remain > 0;
    }

    private boolean isLate() {
        return System.nanoTime() - deadlineNs > 0;
    }
}
