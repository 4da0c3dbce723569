// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal.hook;

import android.os.Looper;
import io.loopbox.ObserverAccess;
import io.loopbox.internal.platform.Faults;
import io.loopbox.internal.platform.Platform;
import io.loopbox.internal.platform.RecorderLog;
import io.loopbox.internal.recording.Settings;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;

/**
 * The hidden hook of Android 10 and newer: Looper.sObserver, one object for all Loopers of the process. It
 * costs least and has the Message itself, with its {@code when}; but only at the end of a dispatch.
 */
public final class ObserverHook extends Hook {
    /**
     * The hook that is still in place after a recording, or a part of one, has ended: another library's
     * Observer wraps it. Main thread.
     */
    private static ObserverHook left;

    private final ObserverAccess slot;

    /**
     * Our observer that records. When another library has displaced our observer, we may make a new one; then
     * only the new one records. The reason: the other library may still call our old observer, and our new
     * observer calls that library's observer. Then each message reaches both of our observers, and would
     * count twice if both recorded.
     */
    Object observer;

    /** The observer to which it passes calls on, or null. */
    Object previous;

    /** Why the last {@link #install} put in no hook, for each way that it tried. Main thread. */
    private static String refusal;

    private ObserverHook(ObserverAccess slot) {
        this.slot = slot;
    }

    /**
     * Puts the hook in.
     *
     * @return null when the platform refuses or does not have it
     */
    static ObserverHook install(Settings settings) {
        ObserverHook known = left;
        left = null;
        if (known != null && known.isWrapped()) {
            known.armed = 0;
            known.active = true;
            return known;
        }
        List<ObserverAccess> tries = new ArrayList<ObserverAccess>();
        tries.add(new ByReflection());
        if (settings.observerAccess != null) {
            tries.add(settings.observerAccess);
        }
        refusal = null;
        for (ObserverAccess slot : tries) {
            try {
                ObserverHook hook = new ObserverHook(slot);
                hook.previous = slot.read();
                hook.observer = hook.make();
                slot.write(hook.observer);
                if (slot.read() == hook.observer) {
                    return hook;
                }
                refuse(slot, "it was set but is not there");
            } catch (Exception refused) {
                refuse(slot, refused.toString());
            } catch (LinkageError absent) {
                refuse(slot, absent.toString());
            }
        }
        RecorderLog.info(refusal());
        return null;
    }

    private static void refuse(ObserverAccess slot, String why) {
        String part = "by " + slot.name() + ": " + why;
        refusal = refusal == null ? part : refusal + ", " + part;
    }

    /** Why there is no hook, as a text for the report. */
    public static String refusal() {
        return "no Observer " + refusal;
    }

    /**
     * Whether there is an Observer that may pass calls on to our hook; {@link DisplacedWatch} detects when it
     * does not.
     */
    private boolean isWrapped() {
        try {
            return slot.read() != null;
        } catch (Exception refused) {
            return false;
        }
    }

    @Override
    Object there() throws Exception {
        return slot.read();
    }

    @Override
    boolean isOurs(Object there) {
        return there == observer;
    }

    /**
     * Makes the observer. A class of ours that implements the interface is cheapest. But it cannot call
     * another observer, because the interface's methods are hidden from our code; a Proxy gets them from the
     * platform.
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
                RecorderLog.info("Proxy instead of a class of ours: " + refused);
            }
        }
        return ProxyObserver.make(this);
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
                // A Proxy passes on to whatever is there: one more each time would be one more call for each
                // message.
                if (!ProxyObserver.isOne(observer)) {
                    observer = make();
                }
                slot.write(observer);
                armed++;
            }
            return true;
        } catch (Exception refused) {
            RecorderLog.info("displaced, and cannot be set again: " + refused);
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
            } else {
                left = this;
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
