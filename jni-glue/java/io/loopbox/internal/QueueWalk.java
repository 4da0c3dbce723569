// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal;

import android.os.Looper;
import android.os.Message;
import android.os.MessageQueue;
import android.os.SystemClock;
import android.util.Printer;
import java.lang.reflect.Field;

/**
 * What the main Looper's queue holds, read from MessageQueue.mMessages by reflection: no code of the app runs under
 * the queue's lock, and no obj is looked at. Up to API 36; later queues keep that field null.
 */
final class QueueWalk {
    /** What is copied of a message while it cannot change; text is made of it after the lock. */
    private static final class Copy {
        final long when;
        final int what;
        final int arg1;
        final int arg2;
        final Class<?> target;
        final Class<?> callback;

        Copy(Message message) {
            when = message.getWhen();
            what = message.what;
            arg1 = message.arg1;
            arg2 = message.arg2;
            target = message.getTarget() == null ? null : message.getTarget().getClass();
            callback = message.getCallback() == null ? null : message.getCallback().getClass();
        }

        /** As Message.toString, so that readers need to know only one grammar. */
        void append(StringBuilder text, long now) {
            text.append("{ when=");
            appendDuration(text, when - now);
            if (target == null) {
                text.append(" barrier=").append(arg1).append(" }");
                return;
            }
            if (callback != null) {
                text.append(" callback=").append(callback.getName());
            } else {
                text.append(" what=").append(what);
            }
            if (arg1 != 0) {
                text.append(" arg1=").append(arg1);
            }
            if (arg2 != 0) {
                text.append(" arg2=").append(arg2);
            }
            text.append(" target=").append(target.getName()).append(" }");
        }
    }

    private QueueWalk() {}

    /**
     * Prints as Looper.dump does, at most that many messages.
     *
     * @return whether there was one; a queue of Android 17 has none in that field
     */
    static boolean print(int most, Printer to) throws ReflectiveOperationException {
        Field head = MessageQueue.class.getDeclaredField("mMessages");
        head.setAccessible(true);
        Field next = Message.class.getDeclaredField("next");
        next.setAccessible(true);
        MessageQueue queue = Looper.getMainLooper().getQueue();
        Copy[] copies = new Copy[most];
        int total = 0;
        synchronized (queue) {
            for (Message m = (Message) head.get(queue); m != null; m = (Message) next.get(m)) {
                if (total < most) {
                    copies[total] = new Copy(m);
                }
                total++;
            }
        }
        long now = SystemClock.uptimeMillis();
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < most && i < total; i++) {
            text.setLength(0);
            text.append("  Message ").append(i).append(": ");
            copies[i].append(text, now);
            to.println(text.toString());
        }
        if (total > 0) {
            to.println("  (Total messages: " + total + ")");
        }
        return total > 0;
    }

    /** As TimeUtils.formatDuration: {@code 0}, {@code +120ms}, {@code -1m2s0ms}. */
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
