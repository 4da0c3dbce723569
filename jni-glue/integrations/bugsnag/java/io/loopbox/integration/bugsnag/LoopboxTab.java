// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.integration.bugsnag;

import android.os.Process;
import com.bugsnag.android.Error;
import com.bugsnag.android.Event;
import com.bugsnag.android.OnErrorCallback;
import com.bugsnag.android.OnSendCallback;
import io.loopbox.FirstFileListener;
import io.loopbox.Loopbox;
import io.loopbox.Report;
import java.util.Date;

/**
 * Puts the digest of the report into Bugsnag's ANR events, as the tab "loopbox"; Bugsnag takes no files.
 * Register the same LoopboxTab in three places: {@code configBuilder.listener(tab)}, {@code
 * configuration.addOnError(tab)} for ANRs of this process, and {@code configuration.addOnSend(tab)} for those
 * that bugsnag-plugin-android-exitinfo finds out about at the next start.
 */
public final class LoopboxTab implements OnErrorCallback, OnSendCallback, FirstFileListener {
    /** Bugsnag trims longer strings. */
    private static final int MOST_CHARS = 10_000;

    private static final String TAB = "loopbox";

    /**
     * How far apart the times of an ANR's event and of its report may be. The event's time is that of the
     * signal. The report's time is that at which its last version was written; a hang's report is written
     * again at the signal.
     */
    private static final long NEAR_MS = 30_000;

    private volatile Report newest;

    @Override
    public void onFirstFile(Report report) {
        onReport(report);
    }

    @Override
    public void onReport(Report report) {
        // Read now: the file may be gone when Bugsnag asks.
        boolean hang = report.getKind() == Report.Kind.ANR || report.getKind() == Report.Kind.HANG;
        if (hang && report.getPid() == Process.myPid()) {
            newest = report;
        }
    }

    @Override
    public boolean onError(Event event) {
        Report report = newest;
        if (report != null && isAnr(event) && Math.abs(timeMs(event) - report.getTimeMs()) < NEAR_MS) {
            add(report, event);
        }
        return true;
    }

    @Override
    public boolean onSend(Event event) {
        if (isAnr(event) && event.getMetadata(TAB, "digest") == null) {
            for (Report report : Loopbox.pendingReports()) {
                if (report.getPid() != Process.myPid() && report.getExitTimeMs() == timeMs(event)) {
                    add(report, event);
                }
            }
        }
        return true;
    }

    static void add(Report report, Event event) {
        event.addMetadata(TAB, "digest", head(report.getDigest()));
        event.addMetadata(TAB, "verdict", report.getVerdict().name());
        event.addMetadata(TAB, "file", report.getFile().getName());
    }

    private static long timeMs(Event event) {
        Date time = event.getDevice().getTime();
        return time == null ? 0 : time.getTime();
    }

    private static boolean isAnr(Event event) {
        for (Error error : event.getErrors()) {
            if ("ANR".equals(error.getErrorClass())) {
                return true;
            }
        }
        return false;
    }

    private static String head(String text) {
        return text.length() <= MOST_CHARS ? text : text.substring(0, MOST_CHARS);
    }
}
