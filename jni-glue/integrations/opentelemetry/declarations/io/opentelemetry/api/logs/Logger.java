package io.opentelemetry.api.logs;

/** Declares this interface of opentelemetry-api 1.50 and newer. */
public interface Logger {
    LogRecordBuilder logRecordBuilder();
}
