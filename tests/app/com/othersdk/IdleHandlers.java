package com.othersdk;

import android.os.Looper;
import android.os.MessageQueue;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;

/**
 * A library that puts its own list into the main queue, to watch idle handlers. Handlers in the old list are
 * then not called any more.
 */
public final class IdleHandlers {
    private IdleHandlers() {}

    /** Replaces the list by an empty one. */
    public static void replace() throws ReflectiveOperationException {
        field().set(Looper.getMainLooper().getQueue(), new ArrayList<MessageQueue.IdleHandler>());
    }

    /** How many idle handlers are in the list. */
    public static int count() throws ReflectiveOperationException {
        return ((List<?>) field().get(Looper.getMainLooper().getQueue())).size();
    }

    private static Field field() throws NoSuchFieldException {
        Field field = MessageQueue.class.getDeclaredField("mIdleHandlers");
        field.setAccessible(true);
        return field;
    }
}
