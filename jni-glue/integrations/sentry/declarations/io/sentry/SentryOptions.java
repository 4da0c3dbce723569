package io.sentry;

/** Of sentry-java 6 and newer; it has more of them. */
public class SentryOptions {
    public long getMaxAttachmentSize() {
        return 20 << 20;
    }

    public long getFlushTimeoutMillis() {
        return 15_000;
    }

    public String getRelease() {
        return "com.example.shop@1.0+1";
    }

    public String getEnvironment() {
        return "production";
    }

    public String getProguardUuid() {
        return null;
    }
}
