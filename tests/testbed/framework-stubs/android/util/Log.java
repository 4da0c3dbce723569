package android.util;

/** logcat is the host program's output: one line per call, with the stack of the throwable. */
public final class Log {
    public static final int VERBOSE = 2, DEBUG = 3, INFO = 4, WARN = 5, ERROR = 6, ASSERT = 7;

    public static final int LOG_ID_MAIN = 0;
    public static final int LOG_ID_SYSTEM = 3;

    private static final String LETTERS = "??VDIWEF";

    public static int println(int priority, String tag, String msg) {
        android.os.BedNative.log(LETTERS.charAt(priority) + "/" + tag + ": " + msg);
        return msg == null ? 0 : msg.length();
    }

    public static int println_native(int buffer, int priority, String tag, String msg) {
        return println(priority, tag, msg);
    }

    private static int println(int priority, String tag, String msg, Throwable t) {
        return println(priority, tag, t == null ? msg : msg + '\n' + getStackTraceString(t));
    }

    public static String getStackTraceString(Throwable t) {
        if (t == null) return "";
        java.io.StringWriter out = new java.io.StringWriter();
        t.printStackTrace(new java.io.PrintWriter(out, true));
        return out.toString();
    }

    public static boolean isLoggable(String tag, int level) { return level >= INFO; }

    public static int v(String tag, String msg) { return println(VERBOSE, tag, msg); }
    public static int v(String tag, String msg, Throwable t) { return println(VERBOSE, tag, msg, t); }
    public static int d(String tag, String msg) { return println(DEBUG, tag, msg); }
    public static int d(String tag, String msg, Throwable t) { return println(DEBUG, tag, msg, t); }
    public static int i(String tag, String msg) { return println(INFO, tag, msg); }
    public static int i(String tag, String msg, Throwable t) { return println(INFO, tag, msg, t); }
    public static int w(String tag, String msg) { return println(WARN, tag, msg); }
    public static int w(String tag, String msg, Throwable t) { return println(WARN, tag, msg, t); }
    public static int w(String tag, Throwable t) { return println(WARN, tag, "", t); }
    public static int e(String tag, String msg) { return println(ERROR, tag, msg); }
    public static int e(String tag, String msg, Throwable t) { return println(ERROR, tag, msg, t); }
    public static int wtf(String tag, String msg) { return println(ASSERT, tag, msg); }
    public static int wtf(String tag, String msg, Throwable t) { return println(ASSERT, tag, msg, t); }

    static int wtf(int buffer, String tag, String msg, Throwable t, boolean here, boolean system) {
        return wtf(tag, msg, t);
    }

    static void wtfQuiet(int buffer, String tag, String msg, boolean system) {}

    private Log() {}
}
