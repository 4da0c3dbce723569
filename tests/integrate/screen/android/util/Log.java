package android.util;

/** A log whose lines are part of the driver's output. */
public final class Log {
    private Log() {}

    public static int i(String tag, String line) {
        return w(tag, line);
    }

    public static int w(String tag, String line) {
        System.out.println("LOG " + line);
        return 0;
    }

    public static int w(String tag, String line, Throwable fault) {
        return w(tag, line + ": " + fault);
    }
}
