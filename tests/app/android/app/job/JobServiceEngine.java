package android.app.job;

import android.app.Service;
import android.os.Handler;
import android.os.Looper;
import android.os.Message;

/** Turns the system's orders about jobs into messages of the main thread. */
public abstract class JobServiceEngine {
    private static final int MSG_EXECUTE_JOB = 0;

    private final JobHandler handler = new JobHandler(Looper.getMainLooper());

    public JobServiceEngine(Service service) {}

    public abstract boolean onStartJob(JobParameters parameters);

    public abstract boolean onStopJob(JobParameters parameters);

    /** The interface that the system calls through the engine's Binder. Any thread. */
    public final void startJob(JobParameters parameters) {
        handler.obtainMessage(MSG_EXECUTE_JOB, parameters).sendToTarget();
    }

    private final class JobHandler extends Handler {
        JobHandler(Looper looper) {
            super(looper);
        }

        @Override
        public void handleMessage(Message message) {
            if (message.what == MSG_EXECUTE_JOB) {
                onStartJob((JobParameters) message.obj);
            }
        }
    }
}
