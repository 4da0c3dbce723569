package integrate;

import io.opentelemetry.api.logs.LogRecordBuilder;
import io.opentelemetry.api.logs.Logger;
import io.opentelemetry.api.logs.LoggerProvider;
import io.opentelemetry.api.logs.Severity;
import io.opentelemetry.context.Context;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/** Keeps the attributes of the last log record. */
final class LogRecords implements LoggerProvider, Logger, LogRecordBuilder {
    private final TreeMap<String, String> attributes = new TreeMap<String, String>();

    /** The attributes of the last record; null when no record was emitted. */
    TreeMap<String, String> emitted;

    @Override
    public Logger get(String scope) {
        return this;
    }

    @Override
    public LogRecordBuilder logRecordBuilder() {
        return this;
    }

    @Override
    public LogRecordBuilder setContext(Context context) {
        return this;
    }

    @Override
    public LogRecordBuilder setEventName(String name) {
        return this;
    }

    @Override
    public LogRecordBuilder setSeverity(Severity severity) {
        return this;
    }

    @Override
    public LogRecordBuilder setTimestamp(long timestamp, TimeUnit unit) {
        return this;
    }

    @Override
    public LogRecordBuilder setBody(String body) {
        return this;
    }

    @Override
    public LogRecordBuilder setAttribute(String key, String value) {
        attributes.put(key, value);
        return this;
    }

    @Override
    public void emit() {
        emitted = attributes;
    }
}
