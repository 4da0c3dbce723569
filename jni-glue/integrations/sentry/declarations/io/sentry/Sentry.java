package io.sentry;

import io.sentry.hints.DiskFlushNotification;
import io.sentry.protocol.SentryId;
import java.util.ArrayList;
import java.util.List;

/** Declares this class of sentry-java 6 and newer, with only the methods that are used here. */
public final class Sentry {
    private static final List<String> CAPTURED = new ArrayList<String>();

    private Sentry() {}

    public static synchronized SentryId captureEvent(SentryEvent event, Hint hint) {
        String file = hint.getAttachments().isEmpty() ? "" : hint.getAttachments().get(0).getFilename();
        CAPTURED.add(file + " " + event.getExtra("loopbox"));
        Object about = hint.get("sentry:typeCheckHint");
        if (about instanceof DiskFlushNotification) {
            ((DiskFlushNotification) about).markFlushed();
        }
        return new SentryId();
    }

    /** A text for each event that was captured. Not part of the SDK: tests read this. */
    public static synchronized List<String> captured() {
        return new ArrayList<String>(CAPTURED);
    }
}
