package android.animation;

/** A signature of AnimationHandler. */
public abstract class Animator {
    public void cancel() {}
}
