// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.integration.datadog;

import android.os.Process;
import com.datadog.android.rum.GlobalRumMonitor;
import com.datadog.android.rum.RumErrorSource;
import io.loopbox.FirstFileListener;
import io.loopbox.Report;
import java.util.HashMap;
import java.util.Map;

/**
 * Adds the digest of a hang's report to Datadog's RUM events, which accept no files. With {@code
 * configBuilder.listener(new LoopboxRum())} the digest becomes attributes of the view in which main hangs, as
 * soon as the report has its first file. When the hang was an ANR, Datadog reports an error in that view:
 * immediately, or at the next start if the process was killed. For hangs that were not ANRs, call {@link
 * #addError} at the next start.
 */
public final class LoopboxRum implements FirstFileListener {
    @Override
    public void onFirstFile(Report report) {
        onReport(report);
    }

    @Override
    public void onReport(Report report) {
        boolean hang = report.getKind() == Report.Kind.ANR || report.getKind() == Report.Kind.HANG;
        if (hang && report.getPid() == Process.myPid()) {
            Map<String, Object> attributes = new HashMap<String, Object>();
            attributes.put("loopbox.digest", report.getDigest());
            attributes.put("loopbox.verdict", report.getVerdict().name());
            GlobalRumMonitor.get().addViewAttributes(attributes);
            // Main hangs, so that no other event comes: this one has Datadog write the view at once.
            GlobalRumMonitor.get().addTiming("loopbox.hang");
        }
    }

    /**
     * Claims the report and adds an error with the stack, the time and the group of the hang, to the view
     * that is shown now. Call it when a view is shown, for each of {@code Loopbox.pendingReports()}:
     *
     * <pre>{@code if (LoopboxRum.addError(report)) report.getFile().delete();}</pre>
     *
     * @return true if the report was about a hang of an earlier process and was given to Datadog. Datadog
     *     does not confirm what it keeps
     */
    public static boolean addError(Report report) {
        Report.Kind kind = report.getKind();
        boolean hang = kind == Report.Kind.HANG || kind == Report.Kind.RECOVERED;
        if (!hang || report.getPid() == Process.myPid() || !GlobalRumMonitor.isRegistered() || !report.claim()) {
            return false;
        }
        Map<String, Object> attributes = new HashMap<String, Object>();
        attributes.put("_dd.error_type", "Hang");
        attributes.put("_dd.timestamp", report.getTimeMs());
        if (!report.getFingerprint().isEmpty()) {
            attributes.put("_dd.error.fingerprint", "loopbox " + report.getFingerprint());
        }
        attributes.put("loopbox.digest", report.getDigest());
        attributes.put("loopbox.kind", kind.name());
        // The event itself has that of this launch.
        attributes.put("loopbox.version", report.getAppVersion() + " (" + report.getAppVersionCode() + ")");
        attributes.put("loopbox.file", report.getFile().getName());
        RumErrorSource source = RumErrorSource.SOURCE;
        GlobalRumMonitor.get().addErrorWithStacktrace(report.getTitle(), source, stack(report), attributes);
        return true;
    }

    /** The stack in the form that Java prints; Datadog does not process an error without it. */
    private static String stack(Report report) {
        StringBuilder text = new StringBuilder("Hang: ").append(report.getTitle());
        for (StackTraceElement frame : report.getStackTrace()) {
            text.append("\n\tat ").append(frame);
        }
        return text.toString();
    }
}
