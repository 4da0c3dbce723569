// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.integration.sentry;

import io.loopbox.Loopbox;
import io.loopbox.Report;
import io.sentry.Attachment;
import io.sentry.EventProcessor;
import io.sentry.Hint;
import io.sentry.SentryEvent;
import io.sentry.protocol.Mechanism;
import io.sentry.protocol.SentryException;
import java.io.DataInputStream;
import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.util.Date;
import java.util.List;

/**
 * Attaches the report to Sentry's ANR events: to those of this process (the SDK's watchdog, mechanism "ANR") one that is
 * written for it, and to those that the SDK sends at the next start (mechanism "AppExitInfo") the one that the process
 * left. Add it with {@code options.addEventProcessor(new LoopboxEventProcessor(options.getMaxAttachmentSize()))}.
 */
public final class LoopboxEventProcessor implements EventProcessor {
    /** A report's last sign of life and the end of its process are at most that far apart. */
    private static final long NEAR_MS = 60_000;

    private final long mostBytes;

    /** Taken once, at the first event that needs them. */
    private List<Report> pending;

    /** @param mostBytes SentryOptions.getMaxAttachmentSize(): the SDK drops what is larger */
    public LoopboxEventProcessor(long mostBytes) {
        this.mostBytes = mostBytes;
    }

    @Override
    public SentryEvent process(SentryEvent event, Hint hint) {
        try {
            String mechanism = mechanism(event);
            if (mechanism.equals("ANR")) {
                attach(Loopbox.dump("sentry"), event, hint, null);
            } else if (mechanism.equals("AppExitInfo")) {
                Report report = near(event.getTimestamp());
                if (report != null && attach(report.file(), event, hint, report.digest())) {
                    pending.remove(report);
                    // Sentry has the bytes, and keeps them on disk itself while there is no network.
                    report.file().delete();
                }
            }
        } catch (IOException unreadable) {
            event.setExtra("loopbox", "no report: " + unreadable);
        }
        return event;
    }

    private boolean attach(File file, SentryEvent event, Hint hint, String digest) throws IOException {
        if (file == null) {
            return false;
        }
        if (digest != null && !digest.isEmpty()) {
            event.setExtra("loopbox", digest);
        }
        if (file.length() > mostBytes) {
            event.setExtra("loopbox_left_out", file.length() + " bytes");
            return false;
        }
        hint.addAttachment(new Attachment(content(file), file.getName(), "application/octet-stream"));
        return true;
    }

    /** Of the process whose end the event tells. */
    private synchronized Report near(Date time) {
        if (pending == null) {
            pending = Loopbox.takePendingReports();
        }
        Report nearest = null;
        long least = NEAR_MS;
        for (Report report : pending) {
            long apart = time == null ? Long.MAX_VALUE : Math.abs(report.timeMs() - time.getTime());
            if (apart <= least) {
                least = apart;
                nearest = report;
            }
        }
        return nearest;
    }

    private static String mechanism(SentryEvent event) {
        List<SentryException> exceptions = event.getExceptions();
        if (exceptions != null) {
            for (SentryException exception : exceptions) {
                Mechanism mechanism = exception.getMechanism();
                if (mechanism != null && mechanism.getType() != null) {
                    return mechanism.getType();
                }
            }
        }
        return "";
    }

    private static byte[] content(File file) throws IOException {
        byte[] bytes = new byte[(int) file.length()];
        DataInputStream in = new DataInputStream(new FileInputStream(file));
        try {
            in.readFully(bytes);
        } finally {
            in.close();
        }
        return bytes;
    }
}
