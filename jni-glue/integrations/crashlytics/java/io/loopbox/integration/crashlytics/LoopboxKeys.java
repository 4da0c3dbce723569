// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.integration.crashlytics;

import android.os.Process;
import com.google.firebase.crashlytics.FirebaseCrashlytics;
import io.loopbox.FirstFileListener;
import io.loopbox.Report;

/**
 * Puts the digest of the report of a hang into Crashlytics' custom keys; Crashlytics takes no files.
 * Crashlytics makes its ANR event at the next start, with the keys that the process had when it ended. So the
 * keys are set as soon as the report has a file: Crashlytics writes them on separate threads, and an ANR
 * leaves a second or two for that. To use this class: {@code configBuilder.listener(new LoopboxKeys())}.
 */
public final class LoopboxKeys implements FirstFileListener {
    /** Crashlytics keeps 64 keys, and of each value 1,024 characters. Two of the 64 are ours. */
    private static final int MOST_CHARS = 1_024;

    @Override
    public void onFirstFile(Report report) {
        onReport(report);
    }

    @Override
    public void onReport(Report report) {
        boolean hang = report.getKind() == Report.Kind.ANR || report.getKind() == Report.Kind.HANG;
        if (!hang || report.getPid() != Process.myPid()) {
            // Another app's ANR, the app's own dump, or an earlier process, whose keys are closed.
            return;
        }
        FirebaseCrashlytics crashlytics = FirebaseCrashlytics.getInstance();
        crashlytics.setCustomKey("loopbox_verdict", report.getVerdict().name());
        crashlytics.setCustomKey("loopbox", head(report.getDigest()));
    }

    private static String head(String text) {
        return text.length() <= MOST_CHARS ? text : text.substring(0, MOST_CHARS);
    }
}
