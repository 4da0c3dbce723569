package android.app;

/** How and why a process of this app was started. Since API 35. */
public final class ApplicationStartInfo {
    private ApplicationStartInfo() {}

    public native int getPid();

    public native int getReason();

    public native int getStartType();
}
