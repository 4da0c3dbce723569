package android.util;

/** The system server's log; here the same as Log. */
public final class Slog {
    public static int w(String tag, String msg) { return Log.w(tag, msg); }
    public static int wtf(String tag, String msg) { return Log.wtf(tag, msg); }

    private Slog() {}
}
