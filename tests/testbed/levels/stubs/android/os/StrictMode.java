package android.os;

/** Nobody is told of slow calls. */
public final class StrictMode {
    public static void noteSlowCall(String name) {}

    private StrictMode() {}
}
