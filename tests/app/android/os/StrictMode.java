package android.os;

/** A class that detects nothing. The testbeds of API levels have the platform's StrictMode instead. */
public final class StrictMode {
    public static final class ThreadPolicy {
        public static final class Builder {
            public Builder() {}

            public Builder(ThreadPolicy policy) {}

            public Builder permitCustomSlowCalls() {
                return this;
            }

            public Builder detectAll() {
                return this;
            }

            public Builder penaltyDeath() {
                return this;
            }

            public ThreadPolicy build() {
                return new ThreadPolicy();
            }
        }
    }

    public static ThreadPolicy getThreadPolicy() {
        return null;
    }

    public static ThreadPolicy allowThreadDiskWrites() {
        return null;
    }

    public static void setThreadPolicy(ThreadPolicy policy) {}

    private StrictMode() {}
}
