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

    /** What the process has given of its state; null for nothing. */
    public byte[] getProcessStateSummary() {
        return null;
    }

    public abstract InputStream getTraceInputStream() throws IOException;
}
