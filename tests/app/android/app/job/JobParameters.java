package android.app.job;

/** Which job is to be done. */
public class JobParameters {
    private final int jobId;

    public JobParameters(int jobId) {
        this.jobId = jobId;
    }

    public int getJobId() {
        return jobId;
    }
}
