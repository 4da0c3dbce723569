// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.integration.crashlytics;

import com.google.firebase.crashlytics.CustomKeysAndValues;
import com.google.firebase.crashlytics.FirebaseCrashlytics;
import io.loopbox.Report;

/**
 * Records a hang as a non-fatal exception. This is for hangs of which Crashlytics has no event, because the
 * process went on or was killed. The exception's stack trace is the main thread's last one; Crashlytics
 * groups by it, and retraces it with the mapping of this launch's version. The event's time is that of the
 * call of {@link #record}. The digest of the hang, its version and its time are in keys that belong to this
 * event alone. Call {@link #record} at the next start, for each of {@code Loopbox.pendingReports()};
 * Crashlytics keeps eight non-fatal exceptions of a process, and takes no files:
 *
 * <pre>{@code if (LoopboxNonFatals.record(report)) report.getFile().delete();}</pre>
 */
public final class LoopboxNonFatals {
    private LoopboxNonFatals() {}

    /**
     * Claims a report about a hang, and records it as a non-fatal exception.
     *
     * @return whether the report was about a hang and was given to Crashlytics, which does not confirm what
     *     it keeps
     */
    public static boolean record(Report report) {
        if (report.getKind() != Report.Kind.HANG && report.getKind() != Report.Kind.RECOVERED) {
            return false;
        }
        FirebaseCrashlytics crashlytics;
        try {
            crashlytics = FirebaseCrashlytics.getInstance();
        } catch (RuntimeException notThere) {
            return false;
        }
        if (!report.claim()) {
            return false;
        }
        // A key's value has 1,024 characters, a digest 900 bytes.
        crashlytics.recordException(
                new Hang(report),
                new CustomKeysAndValues.Builder()
                        .putString("loopbox", report.getDigest())
                        .putString("loopbox_fingerprint", report.getFingerprint())
                        .putString("loopbox_version", report.getAppVersion() + " (" + report.getAppVersionCode() + ")")
                        .putLong("loopbox_time_ms", report.getTimeMs())
                        .build());
        return true;
    }

    private static final class Hang extends Exception {
        private static final long serialVersionUID = 1;

        Hang(Report report) {
            super(report.getTitle());
            setStackTrace(report.getStackTrace());
        }
    }
}
