package android.os;

/** Prints what a trace would show. */
public final class Trace {
    private Trace() {}

    public static void beginAsyncSection(String name, int cookie) {
        System.out.println(cookie + " begins: " + name);
    }

    public static void endAsyncSection(String name, int cookie) {
        System.out.println(cookie + " ends: " + name);
    }
}
