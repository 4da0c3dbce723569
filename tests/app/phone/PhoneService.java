package phone;

import android.app.Service;
import android.app.job.JobParameters;
import android.app.job.JobServiceEngine;
import android.content.Intent;
import android.os.IBinder;
import java.util.concurrent.CountDownLatch;

/** A service that the system starts, and that does jobs. */
public final class PhoneService extends Service {
    /** Opened when the job is done. */
    static final CountDownLatch JOB_DONE = new CountDownLatch(1);

    static volatile JobServiceEngine jobs;

    @Override
    public void onCreate() {
        jobs = new Jobs(this);
        Places.SERVICE_CREATE.reach();
    }

    @Override
    public int onStartCommand(Intent intent, int flags, int startId) {
        Places.SERVICE_START.reach();
        return START_NOT_STICKY;
    }

    @Override
    public IBinder onBind(Intent intent) {
        return null;
    }

    private static final class Jobs extends JobServiceEngine {
        Jobs(Service service) {
            super(service);
        }

        @Override
        public boolean onStartJob(JobParameters parameters) {
            Places.JOB.reach();
            JOB_DONE.countDown();
            return false;
        }

        @Override
        public boolean onStopJob(JobParameters parameters) {
            return false;
        }
    }
}
