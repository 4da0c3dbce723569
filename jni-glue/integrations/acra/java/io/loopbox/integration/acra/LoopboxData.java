// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.integration.acra;

import io.loopbox.Report;
import org.acra.ACRA;

/**
 * Sends the hangs of earlier processes to ACRA, which knows of crashes only: one silent report each, with the main thread's
 * stack, and with the digest, the version that hung and the file's name as custom data. At the next start, for each of {@code Loopbox.takePendingReports()}.
 */
public final class LoopboxData {
    private static final String KEY = "loopbox";

    private LoopboxData() {}

    /** @return whether it was about a hang */
    public static boolean send(Report report) {
        Report.Kind kind = report.kind();
        if (kind != Report.Kind.ANR && kind != Report.Kind.HANG && kind != Report.Kind.RECOVERED) {
            return false;
        }
        // By message and stack ACRA makes the hash that groups: neither has what differs from one hang to the next.
        Throwable hang = new Throwable(report.title());
        hang.setStackTrace(report.stackTrace());
        String data = kind + " " + report.file().getName() + " | version " + report.appVersion() + " | " + report.digest();
        ACRA.getErrorReporter().putCustomData(KEY, data);
        try {
            ACRA.getErrorReporter().handleSilentException(hang);
        } finally {
            // A later crash of this launch is of no hang of an earlier one.
            ACRA.getErrorReporter().removeCustomData(KEY);
        }
        return true;
    }
}
