package io.sentry;

/** Declares this class of sentry-java 6 and newer, with only the options that are used here. */
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
