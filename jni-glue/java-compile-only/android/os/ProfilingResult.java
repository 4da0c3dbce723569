package android.os;

/** A profile that was taken, or the reason why none was. Since API 35. */
public final class ProfilingResult {
    public static final int ERROR_NONE = 0;

    private ProfilingResult() {}

    public native int getErrorCode();

    public native String getResultFilePath();

    public native String getTag();

    /** Since API 36. */
    public native int getTriggerType();
}
