package io.opentelemetry.api.logs;

/** Declares this enum of opentelemetry-api 1.50 and newer, with only the values that are used here. */
public enum Severity {
    ERROR
}
