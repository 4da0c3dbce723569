// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal.frames;

import android.view.MotionEvent;
import android.view.Window;
import io.loopbox.internal.hook.MainHook;
import io.loopbox.internal.platform.Faults;
import io.loopbox.internal.platform.MainLooper;
import io.loopbox.internal.recording.Native;
import io.loopbox.internal.recording.Recording;
import io.loopbox.internal.recording.Settings;
import java.lang.ref.WeakReference;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Map;
import java.util.WeakHashMap;

/**
 * Wraps a window's callback and makes each event that arrives outside of messages count as a message. A
 * Proxy, because newer Androids have more callback methods than a class of ours could pass on.
 */
public final class InputWatch implements InvocationHandler {
    /**
     * The watch of each window. A window is wrapped only once, however often the app asks for it: its
     * callback does not show whether ours is in it, because another library may have wrapped ours. Both
     * references are weak, because the watch refers to the window's callback, which refers to the window.
     * Main thread only.
     */
    private static final Map<Window, WeakReference<InputWatch>> WATCHED =
            new WeakHashMap<Window, WeakReference<InputWatch>>();

    /**
     * The class of the callback that gets the running event, if that event counts as a message; otherwise
     * null. The worker reads the class for the message's name.
     */
    private static volatile Class<?> running;

    private final Window.Callback next;
    private Object proxy;

    /**
     * Whether events are recorded like messages. If false, only touches are watched, for the display frames.
     */
    private boolean records;

    /**
     * Whether input is watched. False after this was removed, though another library's callback may still
     * call it.
     */
    private boolean active = true;

    private InputWatch(Window.Callback next) {
        this.next = next;
    }

    /**
     * Watches a window. Main thread.
     *
     * @param records whether events are to be recorded like messages
     * @return whether the window has a callback, so that it is watched
     */
    public static boolean watch(Window window, boolean records) {
        Window.Callback next = window.getCallback();
        WeakReference<InputWatch> reference = WATCHED.get(window);
        InputWatch known = reference == null ? null : reference.get();
        if (known != null) {
            known.records |= records;
            return true;
        }
        if (next == null) {
            return false;
        }
        InputWatch watch = new InputWatch(next);
        watch.records = records;
        // Ours loads it, and sees Window.Callback as the app does.
        ClassLoader loader = InputWatch.class.getClassLoader();
        watch.proxy = Proxy.newProxyInstance(loader, new Class<?>[] {Window.Callback.class}, watch);
        window.setCallback((Window.Callback) watch.proxy);
        WATCHED.put(window, new WeakReference<InputWatch>(watch));
        return true;
    }

    /** Records this window's input, where messages are recorded. On the main thread. */
    public static void record(Window window) {
        Settings wanted = Recording.settings();
        if (window != null && wanted != null && wanted.isHooked() && MainLooper.isCurrent()) {
            watch(window, true);
        }
    }

    /**
     * Ends the watch of all windows. Restores a window's previous callback, unless another library has
     * wrapped ours: then ours stays and only passes calls on. Main thread.
     */
    public static void takeOut() {
        for (Map.Entry<Window, WeakReference<InputWatch>> entry : WATCHED.entrySet()) {
            Window window = entry.getKey();
            InputWatch watch = entry.getValue().get();
            if (watch != null) {
                watch.active = false;
                if (window != null && window.getCallback() == watch.proxy) {
                    window.setCallback(watch.next);
                }
            }
        }
        WATCHED.clear();
    }

    /**
     * What {@code NativeCalls.runningLine} returns for input that runs in no message; null while no such
     * input runs. Any thread.
     */
    public static String running() {
        Class<?> type = running;
        return type == null ? null : "input " + type.getName();
    }

    @Override
    public Object invoke(Object self, Method method, Object[] arguments) throws Throwable {
        if (method.getDeclaringClass() == Object.class) {
            return ofObject(self, method, arguments);
        }
        if (!active || !isInput(method.getName()) || !MainLooper.isCurrent()) {
            return call(method, arguments);
        }
        if (!seen(method, arguments)) {
            return call(method, arguments);
        }
        boolean threw = true;
        try {
            Object answer = call(method, arguments);
            threw = false;
            return answer;
        } finally {
            running = null;
            try {
                Native.endInput(next.getClass().getName(), threw);
            } catch (Throwable fault) {
                Faults.log(fault);
            }
        }
    }

    /**
     * Whether an event that is about to be passed on counts as a message. A fault of ours never stops the
     * event.
     */
    private boolean seen(Method method, Object[] arguments) {
        try {
            FingerWatch finger = FrameWatch.finger();
            if (finger != null && arguments[0] instanceof MotionEvent && "dispatchTouchEvent".equals(method.getName())) {
                finger.seen((MotionEvent) arguments[0]);
            }
            return records && begin();
        } catch (Throwable fault) {
            Faults.log(fault);
            return false;
        }
    }

    private boolean begin() {
        if (!MainHook.isHooked() || !Native.beginInput()) {
            return false;
        }
        running = next.getClass();
        return true;
    }

    private Object call(Method method, Object[] arguments) throws Throwable {
        try {
            return method.invoke(next, arguments);
        } catch (InvocationTargetException thrown) {
            throw thrown.getCause();
        }
    }

    private Object ofObject(Object self, Method method, Object[] arguments) {
        if ("equals".equals(method.getName())) {
            return self == arguments[0];
        }
        return "hashCode".equals(method.getName()) ? (Object) System.identityHashCode(self) : "watched " + next;
    }

    /**
     * Whether the system sends this event through a descriptor of the Looper; all other calls of a window
     * come in messages.
     */
    private static boolean isInput(String method) {
        return "dispatchTouchEvent".equals(method)
                || "dispatchKeyEvent".equals(method)
                || "dispatchKeyShortcutEvent".equals(method)
                || "dispatchGenericMotionEvent".equals(method)
                || "dispatchTrackballEvent".equals(method);
    }
}
