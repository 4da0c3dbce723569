package android.os;

/** There is no Binder driver: every call comes from this process. */
public class Binder implements IBinder {
    public static long clearCallingIdentity() { return 0; }
    public static void flushPendingCommands() {}
    public static int getCallingUid() { return Process.myUid(); }
    /** StrictMode has calls of other processes detect what is forbidden here; there are none. */
    public static void setThreadStrictModePolicy(int policyMask) {}
}
