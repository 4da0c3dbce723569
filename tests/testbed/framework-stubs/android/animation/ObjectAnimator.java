package android.animation;

/** A signature of AnimationHandler: no animation here cancels another one. */
public final class ObjectAnimator extends Animator {
    boolean shouldAutoCancel(AnimationHandler.AnimationFrameCallback other) { return false; }
}
