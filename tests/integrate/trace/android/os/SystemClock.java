package android.os;

/** A clock whose time the test sets. */
public final class SystemClock {
    public static long now;

    private SystemClock() {}

    public static long uptimeMillis() {
        return now;
    }
}
