// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal.hook;

import android.os.Handler;
import android.os.Looper;
import android.os.Message;
import android.os.MessageQueue;
import io.loopbox.QueueAccess;
import io.loopbox.internal.recording.Native;
import io.loopbox.internal.recording.Settings;
import java.lang.reflect.Field;
import java.lang.reflect.Member;
import java.lang.reflect.Modifier;
import java.util.Arrays;

/**
 * Replaces {@code MessageQueue.nativePollOnce}, the native method in which a MessageQueue waits. Between two
 * polls, main runs a message, or idle handlers, or nothing. The hook makes no object, and does not conflict
 * with libraries that set Looper's Observer or Printer. The hook does not get the Message: names come from
 * stacks, from callbacks and, with a {@link QueueAccess}, from the head of the queue.
 */
final class PollHook extends Hook {
    /** The number that {@link Native#pollThere} returns for our own polling function. */
    private static final long OURS = 1;

    /** Why the last {@link #install} failed. Main thread. */
    private static String refusal;

    /** Represents the polling function of another library. */
    private static final class Other {
        final long number;

        Other(long number) {
            this.number = number;
        }
    }

    /**
     * The other library's function that was seen last. It is kept so that the same function always gives the
     * same object.
     */
    private volatile Other other;

    /** A text for the report: whether the hook reads the queue's head. */
    private final String peek;

    private PollHook(QueueAccess access) {
        peek = access == null ? "" : peek(access, Looper.myQueue());
    }

    /**
     * Puts the hook in.
     *
     * @return null when it cannot be put in
     */
    static PollHook install(Settings settings) {
        refusal = Native.pollIn(Looper.myQueue());
        return refusal == null ? new PollHook(settings.pollPeek) : null;
    }

    private static String peek(QueueAccess access, MessageQueue queue) {
        try {
            Field[] hidden = access.fields(queue);
            if (!areOfQueue(hidden)) {
                return ", no peek: other fields";
            }
            Member[] members = Arrays.copyOf(hidden, hidden.length + 3, Member[].class);
            members[hidden.length] = Message.class.getField("what");
            members[hidden.length + 1] = Message.class.getMethod("isAsynchronous");
            members[hidden.length + 2] = Class.class.getMethod("getName");
            Native.pollPeek(queue, members);
            return ", with peek";
        } catch (Exception refused) {
            return ", no peek: " + refused;
        } catch (LinkageError absent) {
            return ", no peek: " + absent;
        }
    }

    /** Whether the fields are those of a queue; native code reads them without a check. */
    private static boolean areOfQueue(Field[] fields) {
        Class<?>[] types = {Message.class, Message.class, long.class, Handler.class, Runnable.class};
        boolean are = fields.length == types.length;
        for (int at = 0; are && at < types.length; at++) {
            Class<?> of = at == 0 ? MessageQueue.class : Message.class;
            are = fields[at].getDeclaringClass() == of
                    && fields[at].getType() == types[at]
                    && !Modifier.isStatic(fields[at].getModifiers());
        }
        return are;
    }

    /** Why there is no hook, as a text for the report. */
    static String refusal() {
        return "no poll hook: " + refusal;
    }

    @Override
    String describe() {
        return withArmed("Poll" + peek);
    }

    @Override
    Object there() throws NoSuchMethodException {
        long there = Native.pollThere();
        if (there == OURS) {
            return this;
        }
        if (there == 0) {
            throw new NoSuchMethodException("nativePollOnce cannot be read");
        }
        Other known = other;
        if (known == null || known.number != there) {
            known = new Other(there);
            other = known;
        }
        return known;
    }

    @Override
    boolean isOurs(Object there) {
        return there == this;
    }

    @Override
    void idle() {
        Native.pollIdle();
    }

    @Override
    boolean armAgain() {
        if (Native.pollThere() == OURS) {
            return true;
        }
        refusal = Native.pollIn(Looper.myQueue());
        if (refusal == null) {
            armed++;
        }
        return refusal == null;
    }

    @Override
    void uninstall() {
        active = false;
        Native.pollOut(Looper.myQueue());
    }
}
