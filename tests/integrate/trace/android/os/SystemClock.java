package android.os;

/** Has the time that the test says. */
public final class SystemClock {
    public static long now;

    private SystemClock() {}

    public static long uptimeMillis() {
        return now;
    }
}
