// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox;

import io.loopbox.internal.ReportSink;
import java.io.File;

/** The app's listener, as the recorder sees it. */
final class ListenerSink implements ReportSink {
    private final Listener listener;

    ListenerSink(Listener listener) {
        this.listener = listener;
    }

    @Override
    public boolean hearsFirst() {
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
}
