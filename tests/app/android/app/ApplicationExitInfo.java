package android.app;

import java.io.IOException;
import java.io.InputStream;

/** One process that ended. */
public abstract class ApplicationExitInfo {
    public abstract int getPid();

    public abstract String getProcessName();

    public abstract int getReason();

    public abstract int getStatus();

    public abstract String getDescription();

    public abstract long getTimestamp();

    /** The state that the process has stored; null for none. */
    public byte[] getProcessStateSummary() {
        return null;
    }

    public abstract InputStream getTraceInputStream() throws IOException;

    /** Null, as on a device below API 37, or for an ANR without a timer. */
    public AnrInfo getAnrInfo() {
        return null;
    }

    /** A class of API 37: that level's framework has the real one; here are only the declarations. */
    public abstract static class AnrInfo {
        public abstract int getAnrId();

        public abstract int getAnrType();

        public abstract long getTimeoutMillis();

        public abstract boolean isUserPerceptible();
    }
}
