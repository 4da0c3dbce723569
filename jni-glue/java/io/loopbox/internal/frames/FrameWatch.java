// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal.frames;

import android.os.Build;
import android.os.Handler;
import android.os.HandlerThread;
import android.os.Process;
import android.view.View;
import android.view.ViewTreeObserver;
import android.view.Window;
import io.loopbox.internal.platform.Faults;
import io.loopbox.internal.platform.MainLooper;
import io.loopbox.internal.recording.Annotations;
import io.loopbox.internal.recording.FrameSettings;
import io.loopbox.internal.recording.Native;
import java.util.Map;
import java.util.WeakHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/** Decides which windows' frames count, and notifies listeners of them. Main thread, except where noted. */
public final class FrameWatch {
    /** Build.VERSION_CODES.N, which older SDKs do not have. */
    private static final int ANDROID_7 = 24;

    private static final int ANDROID_16 = 36;

    /**
     * How many calls of the listener run or wait at most: the memory for them has a limit, also when the
     * listener does not return. A call about a window does not wait for another call.
     */
    private static final int MOST_WAITING = 64;

    private static volatile FrameWatch current;

    /** The watch of a recording that has ended, until the main thread has removed it from the windows. */
    private static volatile FrameWatch silenced;

    private final FrameSettings settings;
    private final FrameClock clock = new FrameClock();
    private final FingerWatch finger;

    /** The thread of FrameMetrics, JankData and the app's listener; null when none of them is wanted. */
    private final HandlerThread thread;

    private final Handler handler;

    /** The watched windows. The references are weak: a window that is gone is removed. */
    private final Map<Window, Watched> windows = new WeakHashMap<Window, Watched>();

    /**
     * The name of the screen, empty for none. Frames belong to the screen while {@code animation} is null.
     * Otherwise an animation runs: {@code animation} is its name, and frames belong to it.
     */
    private String scene = "";

    private String animation;

    private RefreshRate rate;

    /**
     * The number of calls of the listener that wait or run. {@code missed} counts the calls that were left
     * out because the listener was busy.
     */
    private final AtomicInteger waiting = new AtomicInteger();

    private final AtomicInteger missed = new AtomicInteger();

    private FrameWatch(FrameSettings settings) {
        this.settings = settings;
        finger = settings.touch ? new FingerWatch() : null;
        boolean stages = settings.stages && Build.VERSION.SDK_INT >= ANDROID_7;
        thread = stages || settings.listener != null ? new HandlerThread("loopbox-frames", Process.THREAD_PRIORITY_BACKGROUND) : null;
        if (thread != null) {
            thread.start();
        }
        handler = thread == null ? null : new Handler(thread.getLooper());
    }

    /** The watched objects of a window. Nothing here may keep the window alive. */
    private static final class Watched {
        Shown shown;
        StageListener stages;
        JankListener janks;
    }

    /** Begins to watch frames, after the recorder has been installed. */
    public static void start(FrameSettings settings) {
        FrameWatch watch;
        try {
            watch = new FrameWatch(settings);
        } catch (Throwable fault) {
            // Messages are recorded all the same.
            Native.setFrames(Native.FRAMES, false, Faults.text(fault));
            return;
        }
        current = watch;
        // The app may have named it already.
        scene(Annotations.get("scene"));
        String what = settings.scroll ? "scrolling and named animations" : "named animations";
        Native.setFrames(Native.FRAMES, true, what);
        Native.setFrames(Native.TOUCH, false, settings.touch ? "no window yet" : "not asked for");
        String stages = settings.stages ? "no window yet" : "not asked for";
        Native.setFrames(Native.STAGES, false, settings.stages && watch.handler == null ? "needs Android 7" : stages);
        Native.setFrames(Native.JANKS, false, watch.lacksForJanks());
    }

    /**
     * Why the compositor reports nothing about frames. Where there is no other reason, the reason is that no
     * window is watched yet.
     */
    private String lacksForJanks() {
        if (!settings.jankData) {
            return "not asked for";
        }
        if (Build.VERSION.SDK_INT < ANDROID_16) {
            return "needs Android 16";
        }
        return settings.stages ? "no window yet" : "needs stages";
    }

    /**
     * Stops all notifications for good. The main thread removes the watch from the windows later. Any thread.
     */
    public static void silence() {
        silenced = current;
        current = null;
    }

    public static void stop() {
        FrameWatch watch = current == null ? silenced : current;
        silenced = null;
        if (watch == null) {
            return;
        }
        current = null;
        watch.clock.setPaused(true);
        for (Map.Entry<Window, Watched> entry : watch.windows.entrySet()) {
            watch.leave(entry.getKey(), entry.getValue());
        }
        watch.windows.clear();
        if (watch.rate != null) {
            watch.rate.stop();
        }
        if (watch.thread != null) {
            watch.thread.quitSafely();
        }
    }

    public static void setPaused(boolean pause) {
        FrameWatch watch = current;
        if (watch != null) {
            watch.clock.setPaused(pause);
            if (pause) {
                watch.animationIsOver();
            }
        }
    }

    /** Whether frames are watched. Any thread. */
    public static boolean isOn() {
        return current != null;
    }

    /** Sets the screen that frames belong to from now on. */
    public static void scene(String name) {
        FrameWatch watch = current;
        if (watch != null) {
            watch.scene = name == null ? "" : name;
            if (watch.animation == null) {
                Native.frameScene(watch.scene);
            }
        }
    }

    public static void begin(String name) {
        FrameWatch watch = current;
        if (watch != null && name != null && watch.clock.begin()) {
            watch.animation = name;
            Native.frameScene(name);
        }
    }

    public static void end(String name) {
        FrameWatch watch = current;
        if (watch != null && watch.animation != null && watch.animation.equals(name)) {
            watch.clock.end();
            watch.animationIsOver();
        }
    }

    /** For {@link FrameClock}: no refresh is requested any more, so no animation runs, whoever ended it. */
    static void clockStops() {
        FrameWatch watch = current;
        if (watch != null) {
            watch.animationIsOver();
        }
    }

    /** From now on frames are the screen's again. */
    private void animationIsOver() {
        if (animation != null) {
            animation = null;
            Native.frameScene(scene);
        }
    }

    public static void watch(Window window) {
        FrameWatch watch = current;
        if (watch == null || window == null || !MainLooper.isCurrent() || watch.windows.containsKey(window)) {
            return;
        }
        Watched watched = new Watched();
        watch.windows.put(window, watched);
        watch.enter(window, window.getDecorView(), watched);
    }

    public static void forget(Window window) {
        FrameWatch watch = current;
        Watched watched = watch == null || !MainLooper.isCurrent() ? null : watch.windows.remove(window);
        if (watched != null) {
            watch.leave(window, watched);
        }
    }

    /** For {@link InputWatch}: the receiver of touches, or null. */
    static FingerWatch finger() {
        FrameWatch watch = current;
        return watch == null ? null : watch.finger;
    }

    private void enter(Window window, View decor, Watched watched) {
        if (rate == null) {
            rate = RefreshRate.watch(window.getContext());
        }
        if (settings.scroll) {
            decor.getViewTreeObserver().addOnScrollChangedListener(clock);
        }
        if (finger != null) {
            boolean wrapped = InputWatch.watch(window, false);
            Native.setFrames(Native.TOUCH, wrapped, wrapped ? "the callbacks of windows" : "the window has no callback");
        }
        watched.shown = new Shown();
        decor.addOnAttachStateChangeListener(watched.shown);
        if (decor.isAttachedToWindow()) {
            addStages(window, decor, watched);
        }
    }

    private void addStages(Window window, View decor, Watched watched) {
        if (!settings.stages || handler == null) {
            return;
        }
        if (watched.stages == null) {
            // The window keeps it.
            watched.stages = StageListener.add(window, decor, handler);
        }
        if (settings.jankData && Build.VERSION.SDK_INT >= ANDROID_16) {
            if (watched.janks != null) {
                watched.janks.remove();
            }
            watched.janks = JankListener.add(window, handler);
        }
    }

    private void leave(Window window, Watched watched) {
        if (window == null) {
            return;
        }
        View decor = window.peekDecorView();
        if (decor != null) {
            decor.removeOnAttachStateChangeListener(watched.shown);
            decor.getViewTreeObserver().removeOnScrollChangedListener(clock);
        }
        if (watched.stages != null) {
            watched.stages.remove(window);
        }
        if (watched.janks != null) {
            watched.janks.remove();
        }
    }

    /**
     * Waits until a window is shown: before that it is unknown whether the render thread draws it. A Dialog
     * may be shown again, with the same views, but another observer and another surface.
     */
    private final class Shown implements View.OnAttachStateChangeListener {
        @Override
        public void onViewAttachedToWindow(View decor) {
            try {
                if (settings.scroll) {
                    ViewTreeObserver observer = decor.getViewTreeObserver();
                    // The first one has it already.
                    observer.removeOnScrollChangedListener(clock);
                    observer.addOnScrollChangedListener(clock);
                }
                for (Map.Entry<Window, Watched> entry : windows.entrySet()) {
                    Window window = entry.getKey();
                    if (window != null && window.peekDecorView() == decor) {
                        addStages(window, decor, entry.getValue());
                        return;
                    }
                }
            } catch (Throwable fault) {
                Native.setFrames(Native.STAGES, false, Faults.text(fault));
            }
        }

        @Override
        public void onViewDetachedFromWindow(View decor) {}
    }

    /** Passes on what the worker reports. On the worker, which does not wait for the app. */
    public static void notifyListeners(final int kind, final long[] values, final String scene) {
        final FrameWatch watch = current;
        if (watch == null || watch.settings.listener == null || watch.handler == null) {
            return;
        }
        if (watch.waiting.get() >= (kind == Native.FRAME_WINDOW ? 1 : MOST_WAITING)) {
            watch.missed.incrementAndGet();
            return;
        }
        watch.waiting.incrementAndGet();
        watch.handler.post(
                new Runnable() {
                    @Override
                    public void run() {
                        try {
                            if (current == watch) {
                                watch.deliver(kind, values, scene);
                            }
                        } catch (Throwable fault) {
                            Faults.log(fault);
                        } finally {
                            watch.waiting.decrementAndGet();
                        }
                    }
                });
    }

    private void deliver(int kind, long[] values, String scene) {
        if (kind == Native.FRAME_WINDOW) {
            settings.listener.onWindow(values, scene, missed.getAndSet(0));
        } else if (kind == Native.FRAME_GESTURE) {
            settings.listener.onGesture(values);
        } else {
            settings.listener.onSkipped((int) values[0], scene);
        }
    }
}
