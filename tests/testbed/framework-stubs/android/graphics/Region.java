package android.graphics;

/** A type that signatures of ViewTreeObserver need; no touchable region is ever computed. */
public class Region {
    public boolean set(Region other) { return true; }
    public void setEmpty() {}
    public boolean isEmpty() { return true; }
}
