// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.integration.crashlytics;

import com.google.firebase.crashlytics.FirebaseCrashlytics;
import io.loopbox.Report;

/**
 * Records a hang that Crashlytics has no event of, because the process went on or was killed, as a non-fatal exception. Its
 * stack trace is the main thread's last one, by which Crashlytics groups, and which it retraces. Call it at the next start for each of
 * {@code Loopbox.takePendingReports()}; Crashlytics keeps eight of a process.
 */
public final class LoopboxNonFatals {
    private LoopboxNonFatals() {}

    /** @return whether it is one */
    public static boolean record(Report report) {
        if (report.kind() != Report.Kind.HANG && report.kind() != Report.Kind.RECOVERED) {
            return false;
        }
        FirebaseCrashlytics.getInstance().recordException(new Hang(report));
        return true;
    }

    private static final class Hang extends Exception {
        private static final long serialVersionUID = 1;

        /** The digest, and the version that hung: Crashlytics shows that of this launch. */
        Hang(Report report) {
            super(report.digest() + " | version " + report.appVersion());
            setStackTrace(report.stackTrace());
        }
    }
}
