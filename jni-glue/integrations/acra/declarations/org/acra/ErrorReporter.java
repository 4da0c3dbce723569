package org.acra;

/** Declares this interface of acra-core, as of June 2026, with only the methods that are used here. */
public interface ErrorReporter {
    String putCustomData(String key, String value);

    String removeCustomData(String key);

    void handleSilentException(Throwable e);
}
