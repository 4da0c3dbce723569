package android.view.animation;

import android.os.SystemClock;

/**
 * The clock of animations: while a frame runs it stands at the frame's time, as on a device. On a device the
 * class also reads animations from XML.
 */
public class AnimationUtils {
    private static final class Clock {
        boolean locked;
        long lockedMs;
        long lastMs;
    }

    private static final ThreadLocal<Clock> CLOCK =
            new ThreadLocal<Clock>() {
                @Override
                protected Clock initialValue() {
                    return new Clock();
                }
            };

    /** Called by Choreographer at the start of a frame. */
    public static void lockAnimationClock(long vsyncMs) {
        Clock clock = CLOCK.get();
        clock.locked = true;
        clock.lockedMs = vsyncMs;
    }

    /**
     * Called by Choreographer at the start of a frame on API 35 and newer, also with the time at which
     * Choreographer expects the frame on the screen.
     */
    public static void lockAnimationClock(long vsyncMs, long expectedPresentationNanos) {
        lockAnimationClock(vsyncMs);
    }

    /** Called by Choreographer at the end of a frame. */
    public static void unlockAnimationClock() {
        CLOCK.get().locked = false;
    }

    public static long currentAnimationTimeMillis() {
        Clock clock = CLOCK.get();
        // It never runs backwards, also where a frame's time is before what was returned between frames.
        long now = clock.locked ? clock.lockedMs : SystemClock.uptimeMillis();
        clock.lastMs = Math.max(clock.lastMs, now);
        return clock.lastMs;
    }
}
