package io.opentelemetry.api.logs;

/** Of opentelemetry-api 1.50 and newer; it has more of them. */
public enum Severity {
    ERROR
}
