package com.othersdk;

import android.os.Looper;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;

/** A vendor's observer, as the system's own LooperStats is one: wants back at the end what it gave at the begin. */
public final class Stats implements InvocationHandler {
    /** Callbacks seen on the main thread, and ends that came with another begin's token. */
    public int starts;
    public int ends;
    public int strangeTokens;

    private Object last;

    /** Sets one; plain reflection. */
    public static Stats install() throws ReflectiveOperationException {
        Stats stats = new Stats();
        Class<?> type = Class.forName("android.os.Looper$Observer");
        field().set(null, Proxy.newProxyInstance(Stats.class.getClassLoader(), new Class<?>[] {type}, stats));
        return stats;
    }

    /** Whether this one is the observer now. */
    public boolean isInstalled() throws ReflectiveOperationException {
        Object observer = field().get(null);
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
    public Object invoke(Object proxy, Method method, Object[] arguments) {
        if (Looper.myLooper() != Looper.getMainLooper()) {
            return null;
        }
        if ("messageDispatchStarting".equals(method.getName())) {
            starts++;
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
