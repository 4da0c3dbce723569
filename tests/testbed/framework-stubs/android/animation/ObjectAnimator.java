package android.animation;

/** A type that a signature of AnimationHandler needs. No animation of a testbed cancels another one. */
public final class ObjectAnimator extends Animator {
    boolean shouldAutoCancel(AnimationHandler.AnimationFrameCallback other) { return false; }
}
