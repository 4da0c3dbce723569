// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.integration.opentelemetry;

import io.loopbox.Report;
import io.opentelemetry.api.logs.LoggerProvider;
import io.opentelemetry.api.logs.Severity;
import io.opentelemetry.context.Context;
import java.util.concurrent.TimeUnit;

/**
 * Emits a log record for each hang and ANR of an earlier process, with its time and the attributes that
 * OpenTelemetry has for exceptions. At the next start, for each of {@code Loopbox.pendingReports()}; a record
 * takes no files:
 *
 * <pre>{@code if (LoopboxLogRecords.emit(report, provider)) report.file().delete();}</pre>
 */
public final class LoopboxLogRecords {
    private LoopboxLogRecords() {}

    /**
     * Claims the report.
     *
     * @return whether it was about a hang; OpenTelemetry does not say what becomes of a record
     */
    public static boolean emit(Report report, LoggerProvider provider) {
        Report.Kind kind = report.kind();
        boolean hang = kind == Report.Kind.ANR || kind == Report.Kind.HANG || kind == Report.Kind.RECOVERED;
        if (!hang || !report.claim()) {
            return false;
        }
        provider.get("io.loopbox")
                .logRecordBuilder()
                .setContext(Context.root()) // the spans that are open now are of this launch
                .setEventName(kind == Report.Kind.ANR ? "loopbox.anr" : "loopbox.hang")
                .setSeverity(Severity.ERROR)
                .setTimestamp(report.timeMs(), TimeUnit.MILLISECONDS)
                .setBody(report.title())
                .setAttribute("exception.type", kind == Report.Kind.ANR ? "ANR" : "Hang")
                .setAttribute("exception.message", report.title())
                .setAttribute("exception.stacktrace", stack(report))
                .setAttribute("service.version", report.appVersion()) // the resource has that of this launch
                .setAttribute("loopbox.version_code", Long.toString(report.appVersionCode()))
                .setAttribute("loopbox.digest", report.digest())
                .setAttribute("loopbox.fingerprint", report.fingerprint())
                .setAttribute("loopbox.kind", kind.name())
                .setAttribute("loopbox.file", report.file().getName())
                .emit();
        return true;
    }

    /** As Java prints it. */
    private static String stack(Report report) {
        StringBuilder text = new StringBuilder(report.title());
        for (StackTraceElement frame : report.stackTrace()) {
            text.append("\n\tat ").append(frame);
        }
        return text.toString();
    }
}
