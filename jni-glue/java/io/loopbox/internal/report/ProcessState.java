// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal.report;

import io.loopbox.internal.platform.Exit;
import io.loopbox.internal.platform.Framework;
import io.loopbox.internal.platform.RecorderLog;
import io.loopbox.internal.recording.Recording;
import io.loopbox.internal.recording.Settings;
import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.Charset;
import java.util.Arrays;
import java.util.List;

/**
 * Puts the state that the app has stored with the system for a process ({@code
 * ActivityManager.setProcessStateSummary}) into the last report of that process. The recorder stores none
 * itself: there is only one, of 128 bytes, and it is the app's.
 */
final class ProcessState {
    /** The name of the annotation that has the state. */
    private static final String NAME = "process_state";

    private static final String DIGITS = "0123456789abcdef";

    private ProcessState() {}

    /**
     * Puts the state of each process into the last of its reports.
     *
     * @param reports oldest first
     * @param only the one report that may be written; null for all
     */
    static void attach(List<File> reports, File only, Framework framework) {
        Settings wanted = Recording.settings();
        if (wanted == null || !wanted.keepProcessState || reports.isEmpty()) {
            return;
        }
        Exit[] exits = framework.exits();
        List<Exit> left = exits == null ? Arrays.<Exit>asList() : Arrays.asList(exits.clone());
        for (int at = reports.size() - 1; at >= 0; at--) {
            try {
                Digest digest = Digest.read(reports.get(at));
                Exit exit = digest.exit(exits);
                int nth = left.indexOf(exit);
                String state = nth < 0 || exit == null ? null : text(exit.state);
                if (state != null) {
                    left.set(nth, null);
                    if (only == null || only.equals(reports.get(at))) {
                        annotate(reports.get(at), wanted.redacted(NAME, state));
                    }
                }
            } catch (IOException unreadable) {
                RecorderLog.info("no state into " + reports.get(at) + ": " + unreadable);
            } catch (RuntimeException fault) {
                // Of one report, which must not take the others with it.
                RecorderLog.warn("no state into " + reports.get(at) + ": " + fault);
            }
        }
    }

    private static void annotate(File report, String state) throws IOException {
        if (state != null) {
            ReportSections.annotate(report, NAME, state);
        }
    }

    /** The state as text where it is printable, else in hexadecimal; null for nothing. */
    private static String text(byte[] state) {
        if (state == null || state.length == 0) {
            return null;
        }
        try {
            String text = Charset.forName("UTF-8").newDecoder().decode(ByteBuffer.wrap(state)).toString();
            if (isPrintable(text)) {
                return text;
            }
        } catch (CharacterCodingException binary) {
            // It is the app's own encoding.
        }
        StringBuilder digits = new StringBuilder("0x");
        for (byte each : state) {
            digits.append(DIGITS.charAt(each >> 4 & 0xf)).append(DIGITS.charAt(each & 0xf));
        }
        return digits.toString();
    }

    private static boolean isPrintable(String text) {
        for (int at = 0; at < text.length(); at++) {
            if (Character.isISOControl(text.charAt(at))) {
                return false;
            }
        }
        return true;
    }
}
