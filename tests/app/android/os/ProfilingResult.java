package android.os;

/** A profile that was taken, or why not. */
public final class ProfilingResult {
    public static final int ERROR_NONE = 0;

    private final int trigger;
    private final int error;
    private final String path;

    public ProfilingResult(int trigger, int error, String path) {
        this.trigger = trigger;
        this.error = error;
        this.path = path;
    }

    public int getErrorCode() {
        return error;
    }

    /** Returns null when there is no file, as on a device. */
    public String getResultFilePath() {
        return error == ERROR_NONE ? path : null;
    }

    public String getTag() {
        return null;
    }

    public int getTriggerType() {
        return trigger;
    }
}
