// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.integration.crashlytics;

import com.google.firebase.crashlytics.FirebaseCrashlytics;
import io.loopbox.Report;

/**
 * Records a hang that Crashlytics has no event of, because the process went on or was killed, as a non-fatal exception. Its
 * stack trace is the top of the main thread's last one, by which Crashlytics groups. Call it at the next start for each of
 * {@code Loopbox.takePendingReports()}; Crashlytics keeps eight of a process.
 */
public final class LoopboxNonFatals {
    private LoopboxNonFatals() {}

    /** @return whether it is one */
    public static boolean record(Report report) {
        if (report.kind() != Report.Kind.HANG && report.kind() != Report.Kind.RECOVERED) {
            return false;
        }
        FirebaseCrashlytics.getInstance().recordException(new Hang(report.digest()));
        return true;
    }

    private static final class Hang extends Exception {
        private static final long serialVersionUID = 1;

        Hang(String digest) {
            super(digest);
            setStackTrace(frames(digest));
        }

        /** What stands between "at" and the next bar: "Class.method:line", the innermost first. */
        private static StackTraceElement[] frames(String digest) {
            int start = digest.indexOf(" | at ");
            if (start < 0) {
                return new StackTraceElement[0];
            }
            String stack = digest.substring(start + " | at ".length()).split(" \\| ", 2)[0];
            String[] frames = stack.replace("\u2026 < ", "").split(" < ");
            StackTraceElement[] elements = new StackTraceElement[frames.length];
            for (int at = 0; at < frames.length; at++) {
                String[] place = frames[at].split(":", 2);
                int dot = place[0].lastIndexOf('.');
                String type = dot < 0 ? "" : place[0].substring(0, dot);
                int line = place.length < 2 || !place[1].matches("[0-9]{1,9}") ? -1 : Integer.parseInt(place[1]);
                elements[at] = new StackTraceElement(type, place[0].substring(dot + 1), type + ".java", line);
            }
            return elements;
        }
    }
}
