package android.app.job;

import android.os.Handler;
import android.os.Looper;

/** The bed has no jobs; the name of their handler is what the recorder tells them by. */
public final class JobServiceEngine {
    private JobServiceEngine() {}

    /** Starts and stops jobs on a device. */
    public static final class JobHandler extends Handler {
        public static final int EXECUTE_JOB = 0;

        public JobHandler(Looper looper) {
            super(looper);
        }
    }
}
