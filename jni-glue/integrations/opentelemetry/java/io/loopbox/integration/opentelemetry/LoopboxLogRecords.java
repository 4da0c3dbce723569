// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.integration.opentelemetry;

import io.loopbox.Report;
import io.opentelemetry.api.logs.LoggerProvider;
import io.opentelemetry.api.logs.Severity;
import io.opentelemetry.context.Context;
import java.util.concurrent.TimeUnit;

/**
 * Emits a log record for each hang and ANR of an earlier process, with its time and the attributes that
 * OpenTelemetry has for exceptions. Call {@link #emit} at the next start, for each of {@code
 * Loopbox.pendingReports()}. A log record cannot carry the report's file, so the file is only deleted:
 *
 * <pre>{@code if (LoopboxLogRecords.emit(report, provider)) report.getFile().delete();}</pre>
 */
public final class LoopboxLogRecords {
    private LoopboxLogRecords() {}

    /**
     * Claims a report about a hang or an ANR, and emits a log record for it.
     *
     * @return whether that was done: false for a report about something else. OpenTelemetry does not say what
     *     becomes of a record
     */
    public static boolean emit(Report report, LoggerProvider provider) {
        Report.Kind kind = report.getKind();
        boolean hang = kind == Report.Kind.ANR || kind == Report.Kind.HANG || kind == Report.Kind.RECOVERED;
        if (!hang || !report.claim()) {
            return false;
        }
        provider.get("io.loopbox")
                .logRecordBuilder()
                .setContext(Context.root()) // the spans that are open now are of this launch
                .setEventName(kind == Report.Kind.ANR ? "loopbox.anr" : "loopbox.hang")
                .setSeverity(Severity.ERROR)
                .setTimestamp(report.getTimeMs(), TimeUnit.MILLISECONDS)
                .setBody(report.getTitle())
                .setAttribute("exception.type", kind == Report.Kind.ANR ? "ANR" : "Hang")
                .setAttribute("exception.message", report.getTitle())
                .setAttribute("exception.stacktrace", stack(report))
                .setAttribute("service.version", report.getAppVersion()) // the resource has that of this launch
                .setAttribute("loopbox.version_code", Long.toString(report.getAppVersionCode()))
                .setAttribute("loopbox.digest", report.getDigest())
                .setAttribute("loopbox.fingerprint", report.getFingerprint())
                .setAttribute("loopbox.kind", kind.name())
                .setAttribute("loopbox.file", report.getFile().getName())
                .emit();
        return true;
    }

    /** The stack in the form that Java prints. */
    private static String stack(Report report) {
        StringBuilder text = new StringBuilder(report.getTitle());
        for (StackTraceElement frame : report.getStackTrace()) {
            text.append("\n\tat ").append(frame);
        }
        return text.toString();
    }
}
