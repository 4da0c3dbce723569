// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal;

import android.os.Handler;
import android.os.Looper;
import android.os.Message;
import android.os.MessageQueue;
import java.lang.reflect.Field;

/**
 * What the main Looper's queue holds, read from the linked list behind MessageQueue.mMessages by reflection. No lock is
 * taken and no code of the app runs, so main never waits for it. Up to API 36; the lock-free queues of 36 and 37 keep
 * that field null.
 *
 * <p>Without the lock the list may change while it is read. A message that main takes out has no successor any more, and
 * one that is recycled has the pool's. So the list is read until two passes agree.
 */
final class QueueWalk {
    /** A list that changes all the time is read this often. */
    private static final int MOST_PASSES = 16;

    /** A pass that was led astray, into a circle or another queue, ends here. */
    private static final int MOST_VISITED = 1_000_000;

    /** The clock is read after so many messages. */
    private static final int VISITS_PER_LOOK = 64;

    /** What is copied of a message. Text is made of it later. */
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

        /** Main may recycle the message meanwhile, so each field is read once. */
        private static Class<?> classOf(Object object) {
            return object == null ? null : object.getClass();
        }

        /**
         * Whether it was a message of this Looper's queue while it was copied. One that was recycled has neither a target
         * nor a time, and may have both again, of another queue.
         */
        boolean isOf(Looper looper) {
            boolean still = message.getWhen() == when && message.getTarget() == handler;
            return still && (handler == null ? when != 0 : handler.getLooper() == looper);
        }

        boolean isSame(Entry other) {
            return message == other.message && when == other.when && what == other.what && target == other.target;
        }
    }

    /** One pass over the list. */
    private static final class Pass {
        final Entry[] entries;
        int kept;
        int total;
        /** It came to the end of the list, or as far as it was to go, by messages that were in a queue. */
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

    /** The messages in the order of the list, the first {@code kept} places. */
    Entry[] entries = {};
    int kept;
    /** How many there are; -1 where they were not counted to the end. */
    int total = -1;
    /** All entries were in the queue at one moment. */
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
     * Reads at most that many messages, and counts all.
     *
     * @throws ReflectiveOperationException when a field is refused, or not there
     * @throws LinkageError when Looper.getQueue is not there
     */
    static QueueWalk read(int most, long deadlineNs) throws ReflectiveOperationException {
        Field head = MessageQueue.class.getDeclaredField("mMessages");
        head.setAccessible(true);
        Field next = Message.class.getDeclaredField("next");
        next.setAccessible(true);
        QueueWalk walk = new QueueWalk(head, next, Looper.getMainLooper(), most, deadlineNs);
        walk.readUntilSettled();
        return walk;
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

    /** With {@code count} to the end, else as far as entries are kept. */
    private Pass pass(boolean count) throws IllegalAccessException {
        Pass pass = new Pass(most);
        Message message = (Message) head.get(queue);
        while (message != null && (count || !pass.isFull())) {
            boolean look = pass.total % VISITS_PER_LOOK == VISITS_PER_LOOK - 1;
            if (pass.total == MOST_VISITED || (look && isLate())) {
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
     * Whether the first pass saw the list as it was at one moment: the second one sees the same, but for messages that
     * have left from the front since.
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
