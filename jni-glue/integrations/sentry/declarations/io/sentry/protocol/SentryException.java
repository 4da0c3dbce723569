package io.sentry.protocol;

/** Of sentry-java 6 and newer. */
public final class SentryException {
    private Mechanism mechanism;

    public Mechanism getMechanism() {
        return mechanism;
    }

    public void setMechanism(Mechanism mechanism) {
        this.mechanism = mechanism;
    }
}
