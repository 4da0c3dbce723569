// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.integration.sentry;

import io.loopbox.DumpCallback;
import io.loopbox.Loopbox;
import io.loopbox.Report;
import io.sentry.EventProcessor;
import io.sentry.Hint;
import io.sentry.SentryEvent;
import io.sentry.hints.AbnormalExit;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Attaches a report to each ANR event of Sentry's watchdog. Such an event is about this process at this
 * moment, so a new report is written for it. {@link LoopboxExitProcessor} handles the ANR events of the last
 * process. Add both with {@code options.addEventProcessor}.
 */
public final class LoopboxEventProcessor implements EventProcessor {
    /**
     * The longest wait for a report. Sentry's watchdog cannot go on meanwhile, because its thread captures
     * the event.
     */
    private static final long MOST_MS = 5_000;

    private final long mostBytes;

    /** @param mostBytes SentryOptions.getMaxAttachmentSize(): the SDK drops what is larger */
    public LoopboxEventProcessor(long mostBytes) {
        this.mostBytes = mostBytes;
    }

    @Override
    public SentryEvent process(final SentryEvent event, Hint hint) {
        if (!(hint.get(LoopboxAttachment.ABOUT) instanceof AbnormalExit)) {
            return event;
        }
        final Report[] written = new Report[1];
        final CountDownLatch done = new CountDownLatch(1);
        Loopbox.dumpAsync(
                "sentry",
                new DumpCallback() {
                    @Override
                    public void onDumped(Report report) {
                        written[0] = report;
                        done.countDown();
                    }
                });
        try {
            if (done.await(MOST_MS, TimeUnit.MILLISECONDS) && written[0] != null) {
                LoopboxAttachment.add(written[0], mostBytes, event, hint);
                // The recorder writes its own file about the hang, which is there for everybody else.
                written[0].getFile().delete();
            }
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
        return event;
    }
}
