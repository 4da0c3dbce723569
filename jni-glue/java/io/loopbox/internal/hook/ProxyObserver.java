// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal.hook;

import android.os.Message;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;

/**
 * The Observer as a java.lang.reflect.Proxy. It can pass calls on to an observer that was set before, with
 * arguments and tokens unchanged. Methods are recognised by name, because hidden ones cannot be looked up.
 */
final class ProxyObserver implements InvocationHandler {
    private final ObserverHook hook;

    /** True while this thread is in the other observer, which may pass our own call back to us. */
    private final ThreadLocal<boolean[]> passingOn =
            new ThreadLocal<boolean[]>() {
                @Override
                protected boolean[] initialValue() {
                    return new boolean[1];
                }
            };

    private ProxyObserver(ObserverHook hook) {
        this.hook = hook;
    }

    static Object make(ObserverHook hook) throws ClassNotFoundException {
        Class<?> type = Class.forName("android.os.Looper$Observer");
        return Proxy.newProxyInstance(
                ProxyObserver.class.getClassLoader(), new Class<?>[] {type}, new ProxyObserver(hook));
    }

    static boolean isOne(Object observer) {
        return observer != null && Proxy.isProxyClass(observer.getClass());
    }

    @Override
    public Object invoke(Object proxy, Method method, Object[] arguments) throws Throwable {
        String name = method.getName();
        if (method.getDeclaringClass() == Object.class) {
            return ofObject(proxy, name, arguments);
        }
        if (hook.previous != null && passingOn.get()[0]) {
            return null;
        }
        if ("messageDispatchStarting".equals(name)) {
            Object token = passOn(method, arguments);
            begin(proxy);
            return token;
        }
        if ("messageDispatched".equals(name)) {
            end(proxy, arguments, false);
            return passOn(method, arguments);
        }
        if ("dispatchingThrewException".equals(name)) {
            end(proxy, arguments, true);
            return passOn(method, arguments);
        }
        return passOn(method, arguments);
    }

    private static Object ofObject(Object proxy, String name, Object[] arguments) {
        if ("equals".equals(name)) {
            return proxy == arguments[0];
        }
        return "hashCode".equals(name) ? (Object) System.identityHashCode(proxy) : "io.loopbox.ProxyObserver";
    }

    private void begin(Object proxy) {
        if (hook.active && hook.observer == proxy) {
            try {
                MainThread.begin();
            } catch (Throwable fault) {
                hook.fail(fault);
            }
        }
    }

    private void end(Object proxy, Object[] arguments, boolean threw) {
        if (hook.active && hook.observer == proxy) {
            try {
                MainThread.end((Message) arguments[1], threw);
            } catch (Throwable fault) {
                hook.fail(fault);
            }
        }
    }

    private Object passOn(Method method, Object[] arguments) throws Throwable {
        Object previous = hook.previous;
        if (previous == null) {
            return null;
        }
        boolean[] here = passingOn.get();
        here[0] = true;
        try {
            return method.invoke(previous, arguments);
        } catch (InvocationTargetException thrown) {
            // What the other observer throws would have reached Looper without us too.
            throw thrown.getCause();
        } finally {
            here[0] = false;
        }
    }
}
