package android.util;

/** The log for code that runs on the compilers' JVM: it writes to standard error. */
public final class Log {
    public static final int INFO = 4;
    public static final int WARN = 5;
    public static final int ERROR = 6;

    private Log() {}

    public static int i(String tag, String line, Throwable why) {
        return w(tag, line, why);
    }

    public static int w(String tag, String line) {
        return w(tag, line, null);
    }

    public static int w(String tag, String line, Throwable why) {
        System.err.println(tag + ": " + line + (why == null ? "" : ": " + why));
        return 0;
    }

    public static int e(String tag, String line, Throwable why) {
        return w(tag, line, why);
    }
}
