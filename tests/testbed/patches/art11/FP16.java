package libcore.util;

/** Signatures of the half-precision methods that libart has intrinsics for. */
public final class FP16 {
    public static short ceil(short h) { throw new UnsupportedOperationException(); }
    public static short floor(short h) { throw new UnsupportedOperationException(); }
    public static short rint(short h) { throw new UnsupportedOperationException(); }
    public static float toFloat(short h) { throw new UnsupportedOperationException(); }
    public static short toHalf(float f) { throw new UnsupportedOperationException(); }
    public static boolean greater(short x, short y) { throw new UnsupportedOperationException(); }
    public static boolean greaterEquals(short x, short y) { throw new UnsupportedOperationException(); }
    public static boolean less(short x, short y) { throw new UnsupportedOperationException(); }
    public static boolean lessEquals(short x, short y) { throw new UnsupportedOperationException(); }

    private FP16() {}
}
