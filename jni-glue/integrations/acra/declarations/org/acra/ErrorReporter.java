package org.acra;

/** Of acra-core 5 and newer; it has more methods. */
public interface ErrorReporter {
    String putCustomData(String key, String value);

    void handleSilentException(Throwable e);
}
