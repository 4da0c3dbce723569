// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.integration.xcrash;

import android.os.Process;
import io.loopbox.FirstFileListener;
import io.loopbox.Report;
import xcrash.ICrashCallback;
import xcrash.TombstoneManager;

/**
 * Appends the digest and the name of the report to xCrash's tombstone of an ANR, as the section "loopbox".
 * Give it to both: {@code configBuilder.listener(section)} and {@code
 * initParameters.setAnrCallback(section)}.
 */
public final class LoopboxSection implements ICrashCallback, FirstFileListener {
    /**
     * How far apart the times of the report and of xCrash's file may be if both are about the same ANR.
     * xCrash asks the system for up to 25 seconds whether it is an ANR.
     */
    private static final long NEAR_MS = 30_000;

    private volatile Report newest;

    @Override
    public void onFirstFile(Report report) {
        onReport(report);
    }

    @Override
    public void onReport(Report report) {
        boolean hang = report.getKind() == Report.Kind.ANR || report.getKind() == Report.Kind.HANG;
        if (hang && report.getPid() == Process.myPid()) {
            newest = report;
        }
    }

    /** xCrash calls this after the system has confirmed the ANR. By then the report has a file. */
    @Override
    public void onCrash(String logPath, String emergency) {
        Report report = newest;
        if (report != null && logPath != null && isNear(report)) {
            TombstoneManager.appendSection(logPath, "loopbox", report.getDigest() + "\n" + report.getFile().getName());
        }
    }

    private static boolean isNear(Report report) {
        return Math.abs(System.currentTimeMillis() - report.getTimeMs()) < NEAR_MS;
    }
}
