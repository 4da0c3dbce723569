package io.loopbox;

import java.io.File;

/** Is told of each report that was written. */
public interface ReportListener {
    /**
     * Called on a thread of the recorder, after the file has its final name.
     *
     * @param report the file; it belongs to the listener, which may move or delete it
     * @param reason why it was written: "sigquit", or the words that {@link Loopbox#dump} was given
     */
    void onReport(File report, String reason);
}
