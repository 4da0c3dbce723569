// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.integration.sentry;

import io.loopbox.Report;
import io.sentry.Attachment;
import io.sentry.Hint;
import io.sentry.SentryEvent;
import java.io.DataInputStream;
import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;

/** Adds a report to a Sentry event. */
final class LoopboxAttachment {
    /**
     * The key under which Sentry keeps the object that an event is about
     * (TypeCheckHint.SENTRY_TYPE_CHECK_HINT).
     */
    static final String ABOUT = "sentry:typeCheckHint";

    private LoopboxAttachment() {}

    /**
     * Adds the report's digest and file to the event. When the file is too large, adds the digest and the
     * file's size.
     *
     * @return whether the file was added
     */
    static boolean add(Report report, long mostBytes, SentryEvent event, Hint hint) {
        File file = report.getFile();
        event.setExtra("loopbox", report.getDigest());
        if (file.length() > mostBytes) {
            event.setExtra("loopbox_left_out", file.length() + " bytes");
            return false;
        }
        try {
            hint.addAttachment(new Attachment(content(file), file.getName(), "application/octet-stream"));
            return true;
        } catch (IOException gone) {
            event.setExtra("loopbox_left_out", gone.toString());
            return false;
        }
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
