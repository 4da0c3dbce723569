package android.os;

/** The door from the stubs to the host program, which registers both natives before the first Looper. */
public final class BedNative {
    public static native void log(String line);

    public static native int gettid();

    private BedNative() {}
}
