package io.opentelemetry.api.logs;

/** Of opentelemetry-api 1.50 and newer. */
public interface Logger {
    LogRecordBuilder logRecordBuilder();
}
