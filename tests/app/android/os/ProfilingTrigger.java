package android.os;

/**
 * An event at which the system takes a profile by itself. The members are those of Android 16 before its
 * second quarterly release.
 */
public final class ProfilingTrigger {
    public static final int TRIGGER_TYPE_ANR = 2;

    private final int type;
    private final int hours;

    private ProfilingTrigger(int type, int hours) {
        this.type = type;
        this.hours = hours;
    }

    public int getTriggerType() {
        return type;
    }

    @Override
    public String toString() {
        return type + " once in " + hours + " h";
    }

    public static final class Builder {
        private final int type;
        private int hours;

        public Builder(int type) {
            if (type < 1 || type > TRIGGER_TYPE_ANR) {
                throw new IllegalArgumentException("Invalid trigger type.");
            }
            this.type = type;
        }

        public Builder setRateLimitingPeriodHours(int hours) {
            this.hours = hours;
            return this;
        }

        public ProfilingTrigger build() {
            return new ProfilingTrigger(type, hours);
        }
    }
}
