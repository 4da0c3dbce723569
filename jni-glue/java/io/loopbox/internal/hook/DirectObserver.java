// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal.hook;

import android.os.Handler;
import android.os.Looper;
import android.os.Message;
import io.loopbox.internal.platform.Platform;
import io.loopbox.internal.recording.Native;
import java.lang.reflect.Method;

/** The Observer as a class: no Proxy, so no array and no reflection per call. */
final class DirectObserver implements Looper.Observer {
    private final ObserverHook hook;

    DirectObserver(ObserverHook hook) {
        this.hook = hook;
    }

    /**
     * Checks whether this class has all the methods that Looper calls. The methods of Android 10 to 17 are
     * checked by name, because the interface may hide its methods from us. The methods that the interface
     * shows are checked, too.
     *
     * @return null, or the name of a method that is missing
     */
    String lost() {
        if (!Platform.has(this, Object.class, "messageDispatchStarting")) {
            return "messageDispatchStarting";
        }
        if (!Platform.has(this, void.class, "messageDispatched", Object.class, Message.class)) {
            return "messageDispatched";
        }
        Class<?>[] thrown = {Object.class, Message.class, Exception.class};
        if (!Platform.has(this, void.class, "dispatchingThrewException", thrown)) {
            return "dispatchingThrewException";
        }
        for (Method method : Looper.Observer.class.getMethods()) {
            if (!Platform.has(this, method.getReturnType(), method.getName(), method.getParameterTypes())) {
                return method.getName();
            }
        }
        return null;
    }

    @Override
    public Object messageDispatchStarting() {
        if (hook.active && hook.observer == this) {
            try {
                int said = MainThread.CRITICAL ? Native.beginCritical() : Native.begin();
                if (said == Native.IN_DOUBT) {
                    MainThread.beginInDoubt();
                }
            } catch (Throwable fault) {
                hook.fail(fault);
            }
        }
        return null;
    }

    @Override
    public void messageDispatched(Object token, Message message) {
        if (hook.active && hook.observer == this) {
            try {
                // As MainThread.end does, with one call less: this runs for every message.
                long when = message.getWhen();
                int said = MainThread.CRITICAL ? Native.endCritical(when, false) : Native.end(when, false);
                if (said == Native.IN_DOUBT) {
                    MainThread.end(message, false);
                    return;
                }
                Handler target = message.getTarget();
                Class<?> type = target == null ? null : target.getClass();
                if ((said & Native.WANTS_NAME) != 0 || (type != null && MainThread.isComponent(type, message))) {
                    MainThread.name(target, message);
                }
            } catch (Throwable fault) {
                hook.fail(fault);
            }
        }
    }

    @Override
    public void dispatchingThrewException(Object token, Message message, Exception exception) {
        if (hook.active && hook.observer == this) {
            try {
                MainThread.end(message, true);
            } catch (Throwable fault) {
                hook.fail(fault);
            }
        }
    }
}
