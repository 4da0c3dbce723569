package io.embrace.android.embracesdk;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Declares this Kotlin object of embrace-android-sdk, as of August 2026. */
public final class Embrace {
    public static final Embrace INSTANCE = new Embrace();

    private final List<String> logged = new ArrayList<String>();

    private boolean isStarted;

    private Embrace() {}

    public synchronized boolean isStarted() {
        return isStarted;
    }

    /** Starts the SDK. In the SDK this method needs a Context. */
    public synchronized void start() {
        isStarted = true;
    }

    /**
     * Logs a message. The SDK drops an attachment of more than 1 MiB, and each attachment after the fifth of
     * a session, but sends the message. Before the SDK has started, it drops everything.
     */
    public synchronized void logMessage(
            String message, Severity severity, Map<String, ? extends Object> properties, byte[] attachment) {
        if (!isStarted) {
            return;
        }
        boolean kept = attachment.length <= 1 << 20 && logged.size() < 5;
        logged.add(severity + " " + properties.get("loopbox_kind") + " " + (kept ? attachment.length : -1) + " " + properties.get("loopbox_digest"));
    }

    /** A text for each message that was logged. Not part of the SDK: tests read this. */
    public synchronized List<String> logged() {
        return new ArrayList<String>(logged);
    }
}
