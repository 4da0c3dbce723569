package org.acra;

/** Of acra-core, as of June 2026; it has more methods. */
public interface ErrorReporter {
    String putCustomData(String key, String value);

    String removeCustomData(String key);

    void handleSilentException(Throwable e);
}
