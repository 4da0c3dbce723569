package android.app.job;

/** The job to do. */
public class JobParameters {
    private final int jobId;

    public JobParameters(int jobId) {
        this.jobId = jobId;
    }

    public int getJobId() {
        return jobId;
    }
}
