package android.os;

/** Which users are the system's. */
public final class UserHandle {
    public static boolean isCore(int uid) { return false; }

    private UserHandle() {}
}
