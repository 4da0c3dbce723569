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
 * Puts the digest of the report of a hang into Datadog's RUM events, which take no files. {@code configBuilder.listener(new
 * LoopboxRum())}: a global attribute of this process's events from the first file on, which the event of an ANR has, too, as far
 * as Datadog has written the view again by then. {@link #addError} at the next start for what a killed process left.
 */
public final class LoopboxRum implements FirstFileListener {
    @Override
    public void onFirstFile(Report report) {
        onReport(report);
    }

    @Override
    public void onReport(Report report) {
        boolean hang = report.kind() == Report.Kind.ANR || report.kind() == Report.Kind.HANG;
        if (hang && report.pid() == Process.myPid()) {
            GlobalRumMonitor.get().addAttribute("loopbox.digest", report.digest());
            GlobalRumMonitor.get().addAttribute("loopbox.verdict", report.verdict().name());
        }
    }

    /**
     * An error of the view that is shown now.
     *
     * @return whether it was about a hang of a process that is gone
     */
    public static boolean addError(Report report) {
        Report.Kind kind = report.kind();
        boolean hang = kind == Report.Kind.ANR || kind == Report.Kind.HANG || kind == Report.Kind.RECOVERED;
        if (!hang || report.pid() == Process.myPid()) {
            return false;
        }
        Map<String, Object> attributes = new HashMap<String, Object>();
        attributes.put("loopbox.kind", kind.name());
        attributes.put("loopbox.file", report.file().getName());
        GlobalRumMonitor.get().addError(report.digest(), RumErrorSource.SOURCE, null, attributes);
        return true;
    }
}
