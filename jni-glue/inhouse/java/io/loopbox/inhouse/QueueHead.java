// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.inhouse;

import android.os.Handler;
import android.os.Looper;
import android.os.Message;
import android.os.MessageQueue;
import android.os.SystemClock;
import androidx.annotation.NonNull;
import io.loopbox.QueueAccess;
import java.lang.reflect.Field;

/**
 * Finds the linked list of a MessageQueue by plain reflection. The lock-free queues of Android 16 and 17 have
 * no such list; their fields are blocked, and this class does not try to circumvent that. Give it to {@code
 * new Config.Builder().hook(Config.Hook.POLL).pollPeek(new QueueHead())}.
 */
public final class QueueHead implements QueueAccess {
    /** The delay of the test message, which is removed long before it is due. */
    private static final long LATER_MS = 86_400_000;

    @NonNull
    @Override
    public Field[] fields(@NonNull MessageQueue queue) throws ReflectiveOperationException {
        Field first = field(MessageQueue.class, "mMessages");
        Field[] fields = {
            first,
            field(Message.class, "next"),
            field(Message.class, "when"),
            field(Message.class, "target"),
            field(Message.class, "callback"),
        };
        // A list with a message in it has a first one.
        Handler handler = new Handler(Looper.myLooper());
        handler.sendEmptyMessageAtTime(0, SystemClock.uptimeMillis() + LATER_MS);
        boolean isList = first.get(queue) != null;
        handler.removeCallbacksAndMessages(null);
        if (!isList) {
            throw new NoSuchFieldException("mMessages is null in a queue with a message: it is no linked list");
        }
        return fields;
    }

    private static Field field(Class<?> type, String name) throws NoSuchFieldException {
        Field field = type.getDeclaredField(name);
        field.setAccessible(true);
        return field;
    }
}
