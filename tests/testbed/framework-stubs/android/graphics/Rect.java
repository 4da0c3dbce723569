package android.graphics;

/** A type that signatures of ViewTreeObserver need; no insets are ever computed. */
public final class Rect {
    public void set(Rect other) {}
    public void setEmpty() {}
    public boolean isEmpty() { return true; }
}
