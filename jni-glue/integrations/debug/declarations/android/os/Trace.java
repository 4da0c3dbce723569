package android.os;

/**
 * The part of android.os.Trace that the recorder and its integration for debug builds use; asynchronous
 * sections exist since API 29.
 */
public final class Trace {
    private Trace() {}

    public static void beginSection(String name) {}

    public static void endSection() {}

    public static void beginAsyncSection(String name, int cookie) {}

    public static void endAsyncSection(String name, int cookie) {}
}
