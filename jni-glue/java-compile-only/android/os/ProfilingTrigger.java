package android.os;

/** An event at which the system takes a profile by itself. Since API 36. */
public final class ProfilingTrigger {
    private ProfilingTrigger() {}

    public static final class Builder {
        public native Builder setRateLimitingPeriodHours(int hours);

        public native ProfilingTrigger build();

        public Builder(int type) {}
    }
}
