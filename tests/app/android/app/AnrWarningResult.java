package android.app;

/** A class of API 37: that level's framework has the real one; here are only the declarations. */
public abstract class AnrWarningResult {
    public abstract int getAnrId();

    public abstract int getAnrType();

    public abstract long getConsumedMillis();

    public abstract long getTimeoutMillis();
}
