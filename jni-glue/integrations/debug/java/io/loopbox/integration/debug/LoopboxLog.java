// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.integration.debug;

import android.util.Log;
import io.loopbox.FirstFileListener;
import io.loopbox.Report;

/**
 * Writes a line to the system's log for each report: its kind, its file, and its digest. For debug builds.
 */
public final class LoopboxLog implements FirstFileListener {
    private static final String TAG = "Loopbox";

    @Override
    public void onFirstFile(Report report) {
        // Its line comes at once, also where the process is killed before the report is complete.
        log(report);
    }

    @Override
    public void onReport(Report report) {
        log(report);
    }

    private static void log(Report report) {
        String state = report.isComplete() ? " " : " (incomplete) ";
        Log.w(TAG, report.getKind() + state + report.getFile().getName() + ": " + report.getDigest());
    }
}
