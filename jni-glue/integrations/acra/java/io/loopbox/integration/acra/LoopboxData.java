// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.integration.acra;

import io.loopbox.Report;
import org.acra.ACRA;

/**
 * Sends the hangs of earlier processes to ACRA, which knows of crashes only: one silent report each, with the digest as its
 * message and the file's name as custom data. At the next start, for each of {@code Loopbox.takePendingReports()}.
 */
public final class LoopboxData {
    private LoopboxData() {}

    /** @return whether it was about a hang */
    public static boolean send(Report report) {
        Report.Kind kind = report.kind();
        if (kind != Report.Kind.ANR && kind != Report.Kind.HANG && kind != Report.Kind.RECOVERED) {
            return false;
        }
        ACRA.getErrorReporter().putCustomData("loopbox", kind + " " + report.file().getName());
        Throwable hang = new Throwable(report.digest());
        hang.setStackTrace(new StackTraceElement[0]);
        ACRA.getErrorReporter().handleSilentException(hang);
        return true;
    }
}
