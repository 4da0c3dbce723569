// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.integration.bugsnag;

import com.bugsnag.android.Error;
import com.bugsnag.android.Event;
import com.bugsnag.android.OnErrorCallback;
import io.loopbox.FirstFileListener;
import io.loopbox.Report;

/**
 * Puts the digest of the report into Bugsnag's ANR events, as the tab "loopbox"; Bugsnag takes no files. Give it to both:
 * {@code configBuilder.listener(link)} and {@code configuration.addOnError(link)}.
 */
public final class LoopboxOnError implements OnErrorCallback, FirstFileListener {
    /** Bugsnag trims longer strings. */
    private static final int MOST_CHARS = 10_000;

    /** A report that is older belongs to another hang. */
    private static final long NEAR_MS = 60_000;

    private volatile Report newest;

    @Override
    public void onFirstFile(Report report) {
        onReport(report);
    }

    @Override
    public void onReport(Report report) {
        // Read now: the file may be gone when Bugsnag asks.
        report.digest();
        newest = report;
    }

    @Override
    public boolean onError(Event event) {
        Report report = newest;
        if (report != null && isAnr(event) && System.currentTimeMillis() - report.timeMs() < NEAR_MS) {
            event.addMetadata("loopbox", "digest", head(report.digest(), MOST_CHARS));
            event.addMetadata("loopbox", "why", head(report.reason(), MOST_CHARS));
            event.addMetadata("loopbox", "file", report.file().getName());
        }
        return true;
    }

    private static boolean isAnr(Event event) {
        for (Error error : event.getErrors()) {
            if ("ANR".equals(error.getErrorClass())) {
                return true;
            }
        }
        return false;
    }

    private static String head(String text, int chars) {
        return text.length() <= chars ? text : text.substring(0, chars);
    }
}
