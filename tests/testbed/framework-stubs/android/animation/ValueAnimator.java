package android.animation;

import java.util.ArrayList;
import java.util.List;

/**
 * A number that goes evenly from one value to another, a step with each frame, by the real AnimationHandler.
 */
public class ValueAnimator extends Animator implements AnimationHandler.AnimationFrameCallback {
    /** The platform's type, as far as a testbed needs it. */
    public interface AnimatorUpdateListener {
        void onAnimationUpdate(ValueAnimator animation);
    }

    private final List<AnimatorUpdateListener> listeners = new ArrayList<AnimatorUpdateListener>();
    private final float from;
    private final float to;
    private long durationMs = 300;
    private long startedMs = -1;
    private float fraction;

    private ValueAnimator(float from, float to) {
        this.from = from;
        this.to = to;
    }

    /** An animator that goes from the first value to the last. */
    public static ValueAnimator ofFloat(float... values) {
        return new ValueAnimator(values[0], values[values.length - 1]);
    }


    public ValueAnimator setDuration(long ms) {
        durationMs = ms;
        return this;
    }

    public void addUpdateListener(AnimatorUpdateListener listener) { listeners.add(listener); }
    public float getAnimatedFraction() { return fraction; }
    public Object getAnimatedValue() { return from + (to - from) * fraction; }

    public void start() {
        startedMs = -1;
        AnimationHandler.getInstance().addAnimationFrameCallback(this, 0);
    }

    @Override
    public void cancel() { AnimationHandler.getInstance().removeCallback(this); }

    @Override
    public boolean doAnimationFrame(long frameTimeMs) {
        if (startedMs < 0) {
            startedMs = frameTimeMs;
        }
        fraction = durationMs == 0 ? 1 : Math.min(1, (frameTimeMs - startedMs) / (float) durationMs);
        for (AnimatorUpdateListener listener : listeners) {
            listener.onAnimationUpdate(this);
        }
        if (fraction == 1) {
            cancel();
        }
        return fraction == 1;
    }

    @Override
    public void commitAnimationFrame(long frameTimeMs) {}
}
