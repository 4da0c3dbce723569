// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal.recording;

import java.util.ArrayDeque;

/**
 * The app's breadcrumbs: kept here until a recording takes them. Any thread; no code of the app runs while
 * the class's lock is held.
 */
public final class Breadcrumbs {
    /** The name that the Redactor gets with each breadcrumb. */
    private static final String NAME = "breadcrumb";

    /** How many breadcrumbs are kept: the same number as on the native side (breadcrumbs.rs). */
    private static final int MOST = 64;

    /**
     * How many characters of a waiting name are kept. That is more than a report keeps of it, because the
     * Redactor sees the whole name.
     */
    private static final int MOST_EARLY_CHARS = 200;

    /** Breadcrumbs for the next recording, the oldest first; null while a recording is in progress. */
    private static ArrayDeque<Early> early = new ArrayDeque<Early>();

    private Breadcrumbs() {}

    public static final class Early {
        final String name;
        final long atNs;

        Early(String name, long atNs) {
            this.name = name;
            this.atNs = atNs;
        }
    }

    /** Records a breadcrumb. Any thread; a call from a Redactor is ignored. */
    public static void leave(String name) {
        long atNs = System.nanoTime();
        if (name == null || name.isEmpty() || Annotations.isRedacting()) {
            return;
        }
        if (!keepEarly(name, atNs)) {
            send(name, atNs);
        }
    }

    /**
     * Passes at most {@code MOST} of the waiting breadcrumbs to a new recording. Without a limit the call
     * might not end, because the app may add more at the same time.
     */
    public static void giveEarly() {
        for (int given = 0; given < MOST; given++) {
            Early next = takeEarly();
            if (next == null) {
                return;
            }
            send(next.name, next.atNs);
        }
    }

    /**
     * From now on breadcrumbs go to the recording directly.
     *
     * @return the breadcrumbs that were kept and not passed to the recording yet; pass them to {@link #give}
     */
    public static synchronized ArrayDeque<Early> pass() {
        ArrayDeque<Early> rest = early;
        early = null;
        return rest;
    }

    public static void give(ArrayDeque<Early> rest) {
        if (rest != null) {
            for (Early next : rest) {
                send(next.name, next.atNs);
            }
        }
    }

    /**
     * From now on breadcrumbs wait for the next recording. Those that wait now are dropped: their recording
     * has ended, or the app has stopped the recorder before their recording began.
     */
    public static synchronized void end() {
        early = new ArrayDeque<Early>();
    }

    private static synchronized boolean keepEarly(String name, long atNs) {
        if (early == null) {
            return false;
        }
        if (early.size() == MOST) {
            early.removeFirst();
        }
        early.addLast(new Early(Annotations.cut(name, MOST_EARLY_CHARS), atNs));
        return true;
    }

    private static synchronized Early takeEarly() {
        return early == null ? null : early.pollFirst();
    }

    private static void send(String name, long atNs) {
        Settings wanted = Recording.settings();
        if (wanted == null) {
            return;
        }
        String kept = clean(Annotations.redacted(wanted, NAME, name));
        if (!kept.isEmpty()) {
            Native.breadcrumb(kept, atNs);
        }
    }

    /** The text on one line, cut to the length that is kept; empty for nothing. */
    private static String clean(String text) {
        if (text == null) {
            return "";
        }
        String kept = Annotations.cut(text, Settings.NAME_CHARS);
        for (int at = 0; at < kept.length(); at++) {
            if (Character.isISOControl(kept.charAt(at))) {
                kept = kept.replace(kept.charAt(at), ' ');
            }
        }
        return kept.trim();
    }
}
