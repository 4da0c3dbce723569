package io.loopbox;

import android.os.Message;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;

/**
 * The Observer as a java.lang.reflect.Proxy, which can pass on to an observer that was there before: calls and
 * tokens go through unchanged. Methods are told by name, because hidden ones cannot be looked up.
 */
final class ProxyObserver implements InvocationHandler {
    private final ObserverHook hook;
    private final Object previous;

    private ProxyObserver(ObserverHook hook, Object previous) {
        this.hook = hook;
        this.previous = previous;
    }

    static Object make(ObserverHook hook, Object previous) throws ClassNotFoundException {
        Class<?> type = Class.forName("android.os.Looper$Observer");
        return Proxy.newProxyInstance(
                ProxyObserver.class.getClassLoader(), new Class<?>[] {type}, new ProxyObserver(hook, previous));
    }

    static boolean isOne(Object observer) {
        return observer != null && Proxy.isProxyClass(observer.getClass());
    }

    @Override
    public Object invoke(Object proxy, Method method, Object[] arguments) throws Throwable {
        String name = method.getName();
        if ("messageDispatchStarting".equals(name)) {
            Object token = passOn(method, arguments);
            begin();
            return token;
        }
        if ("messageDispatched".equals(name)) {
            end(arguments, false);
            return passOn(method, arguments);
        }
        if ("dispatchingThrewException".equals(name)) {
            end(arguments, true);
            return passOn(method, arguments);
        }
        if ("equals".equals(name)) {
            return proxy == arguments[0];
        }
        if ("hashCode".equals(name)) {
            return System.identityHashCode(proxy);
        }
        return "toString".equals(name) ? "io.loopbox.ProxyObserver" : passOn(method, arguments);
    }

    private void begin() {
        if (hook.active) {
            try {
                MainThread.begin();
            } catch (Throwable fault) {
                hook.fail(fault);
            }
        }
    }

    private void end(Object[] arguments, boolean threw) {
        if (hook.active) {
            try {
                MainThread.end((Message) arguments[1], threw);
            } catch (Throwable fault) {
                hook.fail(fault);
            }
        }
    }

    private Object passOn(Method method, Object[] arguments) throws Throwable {
        if (previous == null) {
            return null;
        }
        try {
            return method.invoke(previous, arguments);
        } catch (InvocationTargetException thrown) {
            // What the other observer throws would have reached Looper without us too.
            throw thrown.getCause();
        }
    }
}
