// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.integration.acra;

import io.loopbox.Report;
import java.util.LinkedHashMap;
import java.util.Map;
import org.acra.ACRA;
import org.acra.ErrorReporter;

/**
 * Sends each hang or ANR of an earlier process to ACRA as one silent report, because ACRA itself reports only
 * crashes. The silent report has the main thread's stack. Its custom data are the digest, the app's version
 * and the date of the hang. Call {@link #send} at the next start, after {@code ACRA.init}, for each of {@code
 * Loopbox.pendingReports()}. ACRA takes no files, so delete the report's file afterwards:
 *
 * <pre>{@code if (LoopboxData.send(report)) report.getFile().delete();}</pre>
 */
public final class LoopboxData {
    private LoopboxData() {}

    /**
     * Claims a report about a hang or an ANR, and sends it to ACRA.
     *
     * @return whether that was done: false for a report about something else, and before {@code ACRA.init}
     */
    public static boolean send(Report report) {
        Report.Kind kind = report.getKind();
        boolean hang = kind == Report.Kind.ANR || kind == Report.Kind.HANG || kind == Report.Kind.RECOVERED;
        if (!hang || !ACRA.INSTANCE.isInitialised() || !report.claim()) {
            return false;
        }
        // By its stack ACRA makes the hash that groups; neither that nor the message has what differs from
        // one hang to the next.
        Throwable stack = new Throwable(report.getTitle());
        stack.setStackTrace(report.getStackTrace());
        Map<String, String> data = new LinkedHashMap<String, String>();
        data.put("loopbox", report.getDigest());
        data.put("loopbox_kind", kind.name());
        data.put("loopbox_fingerprint", report.getFingerprint());
        // ACRA's own fields have those of this launch.
        data.put("loopbox_version", report.getAppVersion() + " (" + report.getAppVersionCode() + ")");
        data.put("loopbox_time_ms", Long.toString(report.getTimeMs()));
        data.put("loopbox_file", report.getFile().getName());
        ErrorReporter acra = ACRA.getErrorReporter();
        Map<String, String> before = new LinkedHashMap<String, String>();
        try {
            for (Map.Entry<String, String> each : data.entrySet()) {
                before.put(each.getKey(), acra.putCustomData(each.getKey(), each.getValue()));
            }
            acra.handleSilentException(stack);
        } finally {
            // A later crash of this launch is of no hang of an earlier one.
            for (Map.Entry<String, String> each : before.entrySet()) {
                if (each.getValue() == null) {
                    acra.removeCustomData(each.getKey());
                } else {
                    acra.putCustomData(each.getKey(), each.getValue());
                }
            }
        }
        return true;
    }
}
