// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal;

import android.os.Looper;
import android.util.Log;
import io.loopbox.ObserverAccess;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;

/**
 * The hidden hook of Android 10 and newer: Looper.sObserver, one object for all Loopers of the process. It costs
 * least and has the Message itself, with its {@code when}; but only at the end of a dispatch.
 */
final class ObserverHook extends Hook {
    private final ObserverAccess slot;

    /**
     * The one of ours that records. One from before another library displaced us does not: that library may pass on to
     * it while we pass on to that library, and each message would count twice.
     */
    Object observer;

    private Object previous;

    /** Why the last {@link #install} put none in. Main thread. */
    private static String refusal;

    private ObserverHook(ObserverAccess slot) {
        this.slot = slot;
    }

    /**
     * @return null when the platform refuses or does not have it
     */
    static ObserverHook install(Settings settings) {
        List<ObserverAccess> tries = new ArrayList<ObserverAccess>();
        tries.add(new ByReflection());
        if (settings.observerAccess != null) {
            tries.add(settings.observerAccess);
        }
        for (ObserverAccess slot : tries) {
            try {
                ObserverHook hook = new ObserverHook(slot);
                hook.previous = slot.read();
                hook.observer = hook.make();
                slot.write(hook.observer);
                if (slot.read() == hook.observer) {
                    return hook;
                }
                refusal = "it was set by " + slot.name() + " but is not there";
            } catch (Exception refused) {
                refusal = "by " + slot.name() + ": " + refused;
            } catch (LinkageError absent) {
                refusal = "by " + slot.name() + ": " + absent;
            }
            Log.i(Tag.LOOPBOX, refusal());
        }
        return null;
    }

    /** Why there is none, in words of the report. */
    static String refusal() {
        return "no Observer " + refusal;
    }

    /**
     * A class of our own that implements the interface is cheapest. It cannot call another observer, because the
     * interface's methods are hidden from our code; a Proxy is handed them by the platform.
     */
    private Object make() throws ClassNotFoundException, NoSuchMethodException {
        if (previous == null) {
            try {
                DirectObserver ours = new DirectObserver(this);
                String lost = ours.lost();
                if (lost != null) {
                    throw new NoSuchMethodException(Platform.missing(lost, "DirectObserver"));
                }
                return ours;
            } catch (LinkageError refused) {
                Log.i(Tag.LOOPBOX, "Proxy instead of a class of our own: " + refused);
            }
        }
        return ProxyObserver.make(this, previous);
    }

    @Override
    String describe() {
        String form = ProxyObserver.isOne(observer) ? "Proxy" : "class";
        String text = "Observer by " + slot.name() + ", " + form;
        return withArmed(previous == null ? text : text + ", passes on to " + previous.getClass().getName());
    }

    @Override
    boolean armAgain() {
        try {
            Object there = slot.read();
            if (there != observer) {
                previous = there;
                observer = make();
                slot.write(observer);
                armed++;
            }
            return true;
        } catch (Exception refused) {
            Log.i(Tag.LOOPBOX, "displaced, and cannot be set again: " + refused);
            return false;
        }
    }

    @Override
    void uninstall() {
        active = false;
        try {
            // Replaced by another observer, which may pass on to ours: stay as a pass-through.
            if (slot.read() == observer) {
                slot.write(previous);
            }
        } catch (Exception refused) {
            Faults.log(refused);
        }
    }

    private static final class ByReflection implements ObserverAccess {
        private Field field;

        @Override
        public String name() {
            return "reflection";
        }

        @Override
        public Object read() throws Exception {
            return field().get(null);
        }

        @Override
        public void write(Object observer) throws Exception {
            field().set(null, observer);
        }

        private Field field() throws NoSuchFieldException {
            if (field == null) {
                field = Looper.class.getDeclaredField("sObserver");
                field.setAccessible(true);
            }
            return field;
        }
    }
}
