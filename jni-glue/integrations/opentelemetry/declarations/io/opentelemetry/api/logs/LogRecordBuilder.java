package io.opentelemetry.api.logs;

import io.opentelemetry.context.Context;
import java.util.concurrent.TimeUnit;

/** Declares this interface of opentelemetry-api 1.50 and newer, with only the methods that are used here. */
public interface LogRecordBuilder {
    LogRecordBuilder setContext(Context context);

    LogRecordBuilder setEventName(String name);

    LogRecordBuilder setSeverity(Severity severity);

    LogRecordBuilder setTimestamp(long timestamp, TimeUnit unit);

    LogRecordBuilder setBody(String body);

    LogRecordBuilder setAttribute(String key, String value);

    void emit();
}
