package com.othersdk;

import android.os.Looper;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;

/**
 * A vendor's observer, like the system's own LooperStats: at the end of a message it expects the token that
 * it gave at the start.
 */
public final class Stats implements InvocationHandler {
    /**
     * What was seen on the main thread: {@code starts} and {@code ends} of messages, and {@code
     * strangeTokens}, which counts the ends that came with the token of another start.
     */
    public int starts;
    public int ends;
    public int strangeTokens;

    /** The starts that all observers of this class together have seen. */
    public static int allStarts;

    private Object last;
    private Object next;
    private boolean keepsMessages;

    /**
     * Replaces the observer by a new one, by plain reflection. The new one passes no calls on to the
     * previous observer.
     */
    public static Stats install() throws ReflectiveOperationException {
        Stats stats = new Stats();
        Class<?> type = Class.forName("android.os.Looper$Observer");
        field().set(null, Proxy.newProxyInstance(Stats.class.getClassLoader(), new Class<?>[] {type}, stats));
        return stats;
    }

    /** Replaces the observer by a new one, which passes each call on to the previous observer. */
    public static Stats wrap() throws ReflectiveOperationException {
        Object there = current();
        Stats stats = install();
        stats.passOnTo(there);
        return stats;
    }

    /** The observer that is set now. */
    public static Object current() throws ReflectiveOperationException {
        return field().get(null);
    }

    /** Removes whatever observer is set. */
    public static void clear() throws ReflectiveOperationException {
        field().set(null, null);
    }

    /** Passes each call on to this observer, too, from now on. */
    public void passOnTo(Object observer) {
        next = observer;
    }

    /**
     * From now on this observer passes null in place of each message to the observer of {@link #passOnTo},
     * although the interface does not allow that.
     */
    public void keepMessages() {
        keepsMessages = true;
    }

    /** Whether this object is the observer now. */
    public boolean isInstalled() throws ReflectiveOperationException {
        Object observer = current();
        return observer != null
                && Proxy.isProxyClass(observer.getClass())
                && Proxy.getInvocationHandler(observer) == this;
    }

    private static Field field() throws NoSuchFieldException {
        Field field = Looper.class.getDeclaredField("sObserver");
        field.setAccessible(true);
        return field;
    }

    @Override
    public Object invoke(Object proxy, Method method, Object[] arguments) throws Throwable {
        if (Looper.myLooper() != Looper.getMainLooper()) {
            return null;
        }
        if (next != null) {
            Object[] passed = arguments == null ? null : arguments.clone();
            if (keepsMessages && passed != null) {
                passed[1] = null;
            }
            method.invoke(next, passed);
        }
        if ("messageDispatchStarting".equals(method.getName())) {
            starts++;
            allStarts++;
            last = new Object();
            return last;
        }
        ends++;
        if (arguments[0] != last) {
            strangeTokens++;
        }
        return null;
    }
}
