package android.util;

/** For code that runs on the JVM that the compilers run on: the log is standard error. */
public final class Log {
    private Log() {}

    public static int w(String tag, String line) {
        System.err.println(tag + ": " + line);
        return 0;
    }
}
