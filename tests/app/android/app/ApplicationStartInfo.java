package android.app;

/** One process that was started. */
public final class ApplicationStartInfo {
    private final int pid;
    private final int type;
    private final int reason;

    public ApplicationStartInfo(int pid, int type, int reason) {
        this.pid = pid;
        this.type = type;
        this.reason = reason;
    }

    public int getPid() {
        return pid;
    }

    public int getReason() {
        return reason;
    }

    public int getStartType() {
        return type;
    }
}
