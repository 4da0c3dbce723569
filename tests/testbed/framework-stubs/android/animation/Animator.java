package android.animation;

/** A type that a signature of AnimationHandler needs. */
public abstract class Animator {
    public void cancel() {}
}
