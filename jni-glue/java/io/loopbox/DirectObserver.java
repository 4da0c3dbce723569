package io.loopbox;

import android.os.Looper;
import android.os.Message;

/** The Observer as a class: no Proxy, so no array and no reflection per call. */
final class DirectObserver implements Looper.Observer {
    private final ObserverHook hook;

    DirectObserver(ObserverHook hook) {
        this.hook = hook;
    }

    @Override
    public Object messageDispatchStarting() {
        if (hook.active) {
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
        if (hook.active) {
            try {
                MainThread.end(message, false);
            } catch (Throwable fault) {
                hook.fail(fault);
            }
        }
    }

    @Override
    public void dispatchingThrewException(Object token, Message message, Exception exception) {
        if (hook.active) {
            try {
                MainThread.end(message, true);
            } catch (Throwable fault) {
                hook.fail(fault);
            }
        }
    }
}
