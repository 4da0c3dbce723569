package android.view;

/** An event that says nothing. */
public final class MotionEvent {}
