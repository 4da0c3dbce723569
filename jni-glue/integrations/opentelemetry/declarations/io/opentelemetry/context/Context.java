package io.opentelemetry.context;

/**
 * Declares this interface of opentelemetry-context 1.50 and newer, with only the method that is used here.
 */
public interface Context {
    static Context root() {
        return null;
    }
}
