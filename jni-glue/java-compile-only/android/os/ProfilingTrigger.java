package android.os;

/** At what the system takes a profile by itself. Since API 36. */
public final class ProfilingTrigger {
    public static final int TRIGGER_TYPE_ANR = 2;

    private ProfilingTrigger() {}

    public static final class Builder {
        public native Builder setRateLimitingPeriodHours(int hours);

        public native ProfilingTrigger build();

        public Builder(int type) {}
    }
}
