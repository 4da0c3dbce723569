package android.app;

/** The system's warning of an ANR. Since API 37. */
public final class AnrWarningResult {
    private AnrWarningResult() {}

    public native int getAnrId();

    public native int getAnrType();

    public native long getConsumedMillis();

    public native long getTimeoutMillis();
}
