package android.app;

/** Of API 37, whose framework has the real class; these are only the declarations. */
public abstract class AnrWarningResult {
    public abstract int getAnrId();

    public abstract int getAnrType();

    public abstract long getConsumedMillis();

    public abstract long getTimeoutMillis();
}
