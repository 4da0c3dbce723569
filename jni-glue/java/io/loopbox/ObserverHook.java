// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox;

import android.os.Looper;
import android.util.Log;
import java.lang.reflect.Field;

/**
 * The hidden hook of Android 10 and newer: Looper.sObserver, one object for all Loopers of the process. It costs
 * least and has the Message itself, with its {@code when}; but only at the end of a dispatch.
 */
final class ObserverHook extends Hook {
    private final Slot slot;

    /**
     * The one of ours that records. One from before another library displaced us does not: that library may pass on to
     * it while we pass on to that library, and each message would count twice.
     */
    Object observer;

    private Object previous;

    private ObserverHook(Slot slot) {
        this.slot = slot;
    }

    /**
     * @return null when the platform refuses or does not have it
     */
    static ObserverHook install(Config config) {
        Slot[] tries =
                config.hiddenApi == Config.HiddenApi.NATIVE_THREAD
                        ? new Slot[] {new ReflectionSlot(), new NativeThreadSlot()}
                        : new Slot[] {new ReflectionSlot()};
        for (Slot slot : tries) {
            try {
                ObserverHook hook = new ObserverHook(slot);
                hook.previous = slot.read();
                hook.observer = hook.make();
                slot.write(hook.observer);
                if (slot.read() == hook.observer) {
                    return hook;
                }
                Log.w(Loopbox.TAG, "the Observer was set by " + slot.name() + " but is not there");
            } catch (Exception refused) {
                Log.i(Loopbox.TAG, "no Observer by " + slot.name() + ": " + refused);
            } catch (LinkageError absent) {
                Log.i(Loopbox.TAG, "no Observer by " + slot.name() + ": " + absent);
            }
        }
        return null;
    }

    /**
     * A class of our own that implements the interface is cheapest. It cannot call another observer, because the
     * interface's methods are hidden from our code; a Proxy is handed them by the platform.
     */
    private Object make() throws ClassNotFoundException {
        if (previous == null) {
            try {
                return new DirectObserver(this);
            } catch (LinkageError refused) {
                Log.i(Loopbox.TAG, "Proxy instead of a class of our own: " + refused);
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
            Log.i(Loopbox.TAG, "displaced, and cannot be set again: " + refused);
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
            Log.w(Loopbox.TAG, "the Observer stays, without effect", refused);
        }
    }

    /** A way to Looper.sObserver. */
    private abstract static class Slot {
        abstract String name();

        abstract Object read() throws Exception;

        abstract void write(Object observer) throws Exception;
    }

    private static final class ReflectionSlot extends Slot {
        private Field field;

        @Override
        String name() {
            return "reflection";
        }

        @Override
        Object read() throws Exception {
            return field().get(null);
        }

        @Override
        void write(Object observer) throws Exception {
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

    private static final class NativeThreadSlot extends Slot {
        @Override
        String name() {
            return "native thread";
        }

        @Override
        Object read() throws Exception {
            Object[] holder = new Object[1];
            check(Native.readObserver(holder));
            return holder[0];
        }

        @Override
        void write(Object observer) throws Exception {
            check(Native.writeObserver(observer));
        }

        private static void check(String refusal) throws NoSuchFieldException {
            if (refusal != null) {
                throw new NoSuchFieldException(refusal);
            }
        }
    }
}
