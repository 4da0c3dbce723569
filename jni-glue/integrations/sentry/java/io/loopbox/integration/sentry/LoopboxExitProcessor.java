// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.integration.sentry;

import io.loopbox.Loopbox;
import io.loopbox.Report;
import io.sentry.BackfillingEventProcessor;
import io.sentry.Hint;
import io.sentry.SentryEvent;
import io.sentry.hints.AbnormalExit;
import io.sentry.hints.Flushable;

/**
 * Attaches a report to an ANR event of Sentry about an earlier process: the report that the earlier process
 * left. Sentry makes such an event at a later start (mechanisms "AppExitInfo" and "HistoricalAppExitInfo",
 * Android 11 and newer). It passes the event to backfilling processors only. The hint shows the kind of
 * event, because Sentry sets the mechanism later.
 *
 * <p>The file is deleted when Sentry has the event, attachment included, on its own disk. When an event is
 * sampled away or dropped by beforeSend, the file stays where it is.
 */
public final class LoopboxExitProcessor implements BackfillingEventProcessor {
    private final long mostBytes;

    /** @param mostBytes SentryOptions.getMaxAttachmentSize(): the SDK drops what is larger */
    public LoopboxExitProcessor(long mostBytes) {
        this.mostBytes = mostBytes;
    }

    @Override
    public SentryEvent process(SentryEvent event, Hint hint) {
        Object about = hint.get(LoopboxAttachment.ABOUT);
        if (!(about instanceof AbnormalExit)) {
            return event;
        }
        Long ended = ((AbnormalExit) about).timestamp();
        Report report = ended == null ? null : endedAt(ended);
        boolean attached = report != null && LoopboxAttachment.add(report, mostBytes, event, hint);
        if (attached && about instanceof Flushable) {
            deleteWhenFlushed(report, (Flushable) about);
        }
        return event;
    }

    /**
     * Finds the report of the process that ended at this time, and claims it. If the process left several
     * reports, this is the newest one about an ANR, or the newest one if none is about an ANR. A report that
     * is too large for Sentry is returned without being claimed. The reports are searched at each call, so
     * that a report found late is included. Null if the process left none, or if the claim fails.
     */
    private Report endedAt(long timeMs) {
        Report found = null;
        for (Report report : Loopbox.pendingReports()) {
            boolean better = found == null || found.getKind() != Report.Kind.ANR || report.getKind() == Report.Kind.ANR;
            if (report.getExitTimeMs() == timeMs && better) {
                found = report;
            }
        }
        // The others are left for who sends reports by another way, and so is what is too large for Sentry.
        boolean left = found == null || found.getFile().length() > mostBytes;
        return left || found.claim() ? found : null;
    }

    private static void deleteWhenFlushed(final Report report, final Flushable event) {
        Thread thread =
                new Thread("loopbox-sentry") {
                    @Override
                    public void run() {
                        if (event.waitFlush()) {
                            report.getFile().delete();
                        }
                    }
                };
        thread.setDaemon(true);
        thread.start();
    }
}
