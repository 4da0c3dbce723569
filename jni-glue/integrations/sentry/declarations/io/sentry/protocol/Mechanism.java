package io.sentry.protocol;

/** Of sentry-java 6 and newer. */
public final class Mechanism {
    private String type;

    public String getType() {
        return type;
    }

    public void setType(String type) {
        this.type = type;
    }
}
