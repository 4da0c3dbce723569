package android.util;

/** Of a display with 320 pixels per inch. */
public class DisplayMetrics {
    public float density = 2;
}
