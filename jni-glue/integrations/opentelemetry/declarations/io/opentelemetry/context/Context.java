package io.opentelemetry.context;

/** Of opentelemetry-context 1.50 and newer: an interface with more methods. */
public interface Context {
    static Context root() {
        return null;
    }
}
