package io.loopbox;

import android.os.Looper;
import android.os.Message;

/** The Observer as a class: no Proxy, so no array and no reflection per call. */
final class DirectObserver implements Looper.Observer {
    private final ObserverHook hook;
    private final MainThread main;

    DirectObserver(ObserverHook hook) {
        this.hook = hook;
        this.main = hook.main;
    }

    @Override
    public Object messageDispatchStarting() {
        if (hook.active && main.isCurrent()) {
            try {
                main.begin();
            } catch (Throwable fault) {
                hook.fail(fault);
            }
        }
        return null;
    }

    @Override
    public void messageDispatched(Object token, Message message) {
        end(message, false);
    }

    @Override
    public void dispatchingThrewException(Object token, Message message, Exception exception) {
        end(message, true);
    }

    private void end(Message message, boolean threw) {
        if (hook.active && main.isCurrent()) {
            try {
                main.end(message, threw);
            } catch (Throwable fault) {
                hook.fail(fault);
            }
        }
    }
}
