// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.integration.embrace;

import io.embrace.android.embracesdk.Embrace;
import io.embrace.android.embracesdk.Severity;
import io.loopbox.Report;
import java.io.DataInputStream;
import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Logs the reports of hangs to Embrace with the file attached. Call {@link #send} at the next start, on a
 * thread that may read files, after {@code Embrace.start}, with {@code Loopbox.pendingReports()}.
 */
public final class LoopboxLogs {
    /**
     * The size of the largest attachment that Embrace takes, in bytes. It drops larger ones, and all after
     * the fifth of a session.
     */
    private static final int MOST_BYTES = 1 << 20;

    private static final int MOST_FILES = 5;

    private LoopboxLogs() {}

    /**
     * Logs reports, newest first, as many as Embrace takes: none before Embrace has started, because it drops
     * logs until then. Claims the logged reports and deletes their files; Embrace does not report what
     * becomes of a log. The other reports stay as they are.
     *
     * @param reports oldest first
     * @return how many were logged
     */
    public static int send(List<Report> reports) {
        int logged = 0;
        if (!Embrace.INSTANCE.isStarted()) {
            return 0;
        }
        for (int at = reports.size() - 1; at >= 0 && logged < MOST_FILES; at--) {
            Report report = reports.get(at);
            Report.Kind kind = report.getKind();
            boolean hang = kind == Report.Kind.ANR || kind == Report.Kind.HANG || kind == Report.Kind.RECOVERED;
            if (hang && report.getFile().length() <= MOST_BYTES && report.claim() && log(report)) {
                logged++;
                report.getFile().delete();
            }
        }
        return logged;
    }

    private static boolean log(Report report) {
        byte[] content;
        try {
            content = content(report.getFile());
        } catch (IOException gone) {
            return false;
        }
        Map<String, Object> properties = new HashMap<String, Object>();
        properties.put("loopbox_kind", report.getKind().name());
        // Of a message Embrace keeps 128 characters, of a property 1,024.
        properties.put("loopbox_digest", report.getDigest());
        properties.put("loopbox_fingerprint", report.getFingerprint());
        properties.put("loopbox_version", report.getAppVersion() + " (" + report.getAppVersionCode() + ")");
        properties.put("loopbox_time_ms", Long.toString(report.getTimeMs()));
        properties.put("loopbox_file", report.getFile().getName());
        Embrace.INSTANCE.logMessage(report.getTitle(), Severity.ERROR, properties, content);
        return true;
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
