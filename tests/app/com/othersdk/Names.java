package com.othersdk;

import android.os.Looper;
import android.os.Message;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;

/** An observer that keeps the name of each message of the main thread, by the message's number, from 1 on. */
public final class Names implements InvocationHandler {
    private final String[] names;
    private int starts;

    private Names(int most) {
        names = new String[most];
    }

    /**
     * Replaces the Looper's observer by a new one, which passes no calls on to the previous observer. It
     * keeps the names of the first messages, {@code most} at most.
     */
    public static Names install(int most) throws ReflectiveOperationException {
        Names names = new Names(most);
        Class<?> type = Class.forName("android.os.Looper$Observer");
        Field field = Looper.class.getDeclaredField("sObserver");
        field.setAccessible(true);
        field.set(null, Proxy.newProxyInstance(Names.class.getClassLoader(), new Class<?>[] {type}, names));
        return names;
    }

    /** How many messages have begun. */
    public int starts() {
        return starts;
    }

    /** The name {@code WHAT TARGET CALLBACK} of a message; null before it has ended. */
    public String name(int number) {
        return names[number];
    }

    @Override
    public Object invoke(Object proxy, Method method, Object[] arguments) {
        if (Looper.myLooper() != Looper.getMainLooper()) {
            return null;
        }
        if ("messageDispatchStarting".equals(method.getName())) {
            starts++;
            return starts;
        }
        int number = (Integer) arguments[0];
        if (number < names.length) {
            Message message = (Message) arguments[1];
            Runnable callback = message.getCallback();
            names[number] = message.what
                    + " " + message.getTarget().getClass().getName()
                    + " " + (callback == null ? "-" : callback.getClass().getName());
        }
        return null;
    }
}
