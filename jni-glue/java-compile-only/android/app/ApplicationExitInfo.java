package android.app;

import java.io.IOException;
import java.io.InputStream;

/** Why an earlier process of this app ended. Since API 30. */
public final class ApplicationExitInfo {
    private ApplicationExitInfo() {}

    public native int getPid();

    public native String getProcessName();

    public native int getReason();

    public native int getStatus();

    public native String getDescription();

    public native long getTimestamp();

    public native byte[] getProcessStateSummary();

    public native InputStream getTraceInputStream() throws IOException;

    /** Since API 37. */
    public native AnrInfo getAnrInfo();

    /** Since API 37. */
    public static final class AnrInfo {
        private AnrInfo() {}

        public native int getAnrId();

        public native int getAnrType();

        public native long getTimeoutMillis();

        public native boolean isUserPerceptible();
    }
}
