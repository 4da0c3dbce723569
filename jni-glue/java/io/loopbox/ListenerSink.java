// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox;

import io.loopbox.internal.recording.ReportSink;
import java.io.File;
import java.util.ArrayList;
import java.util.List;

/** Passes the recorder's reports on to a {@link Listener} of the app. */
final class ListenerSink implements ReportSink {
    private final Listener listener;

    ListenerSink(Listener listener) {
        this.listener = listener;
    }

    /** The given sinks, and one more for the listener; an empty list when the listener is null. */
    static List<ReportSink> with(List<ReportSink> others, Listener listener) {
        List<ReportSink> all = new ArrayList<ReportSink>();
        if (listener != null) {
            if (others != null) {
                all.addAll(others);
            }
            all.add(new ListenerSink(listener));
        }
        return all;
    }

    /** Compares the listeners by identity, not with their own equals method. */
    @Override
    public boolean equals(Object other) {
        return other instanceof ListenerSink && ((ListenerSink) other).listener == listener;
    }

    @Override
    public int hashCode() {
        return System.identityHashCode(listener);
    }

    @Override
    public boolean wantsFirst() {
        return listener instanceof FirstFileListener;
    }

    @Override
    public void onReport(File file, boolean first) {
        Report report = new Report(file);
        if (!first) {
            listener.onReport(report);
        } else if (listener instanceof FirstFileListener) {
            ((FirstFileListener) listener).onFirstFile(report);
        }
    }

    @Override
    public boolean wantsWarnings() {
        return listener instanceof AnrWarningListener;
    }

    @Override
    public void onWarning(int id, int type, long consumedMs, long timeoutMs) {
        if (listener instanceof AnrWarningListener) {
            ((AnrWarningListener) listener).onAnrWarning(new AnrWarning(id, type, consumedMs, timeoutMs));
        }
    }
}
