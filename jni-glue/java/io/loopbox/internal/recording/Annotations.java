// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal.recording;

import io.loopbox.internal.platform.Faults;
import io.loopbox.internal.platform.RecorderLog;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The annotations that the app has set: those that wait for the next recording, and those that the Java side
 * itself writes. Any thread; no code of the app runs while the class's lock is held.
 */
public final class Annotations {
    private static final Map<String, String> KEPT = new ConcurrentHashMap<String, String>();

    /**
     * Annotations for the next recording, in the order in which the names were first set; null while one is
     * in progress.
     */
    private static Map<String, String> early = new LinkedHashMap<String, String>();

    /**
     * The annotations that still waited when {@link #pass} was called. {@link #giveRest} passes them to the
     * recording, unless the app has set the same name again in the meantime.
     */
    private static Map<String, String> rest = new LinkedHashMap<String, String>();

    /**
     * The name that {@link #giveRest} is passing on; null for none. A newer value of this name waits, so that
     * it is passed on after the older one.
     */
    private static String passing;

    /**
     * A new recording gets at most this many of the waiting annotations. Without a limit the call might not
     * end, because the app may add more at the same time.
     */
    private static final int MOST_EARLY = 64;

    /**
     * How many characters of a waiting value are kept. That is more than a report keeps of it, because the
     * Redactor sees the whole value.
     */
    private static final int MOST_CHARS = 2_000;

    private static final String TOO_MANY = "an app can set " + Settings.MOST_NAMES + " names";

    /** The name of the annotation whose value the app's Redactor sees on this thread; null at other times. */
    private static final ThreadLocal<String> REDACTS = new ThreadLocal<String>();

    private static int refused;
    private static String lastRefusal = "";

    private Annotations() {}

    /** Begins a new recording with these annotations of its configuration: names and values in turn. */
    public static void begin(List<String> annotations) {
        KEPT.clear();
        for (int at = 0; at + 1 < annotations.size(); at += 2) {
            put(annotations.get(at), annotations.get(at + 1));
        }
    }

    /** Passes at most {@code MOST_EARLY} of the waiting annotations to a new recording. */
    public static void giveEarly() {
        for (int given = 0; given < MOST_EARLY; given++) {
            String[] annotation = takeEarly();
            if (annotation == null) {
                return;
            }
            send(annotation[0], annotation[1]);
        }
    }

    /** From now on annotations go directly to the recording. {@link #giveRest} passes on what still waits. */
    public static synchronized void pass() {
        rest = early;
        early = null;
    }

    /** Passes what still waited at {@link #pass} to the recording. */
    public static void giveRest() {
        int given = 0;
        try {
            for (String[] annotation = takeRest(given); annotation != null; annotation = takeRest(given)) {
                send(annotation[0], annotation[1]);
                given++;
            }
        } finally {
            // Also when the app's Redactor throws an Error.
            endPassing();
        }
    }

    private static synchronized void endPassing() {
        passing = null;
    }

    /**
     * From now on annotations wait for the next recording. Those that wait now are dropped: their recording
     * has ended, or the app has stopped the recorder before their recording began.
     */
    public static synchronized void end() {
        early = new LinkedHashMap<String, String>();
        rest = new LinkedHashMap<String, String>();
    }

    /**
     * Adds an annotation to each report from now on, or removes it. While nothing is recorded, it is kept for
     * the reports of the next recording. Any thread; not from a Redactor.
     *
     * @return whether it is kept
     */
    public static boolean set(String name, String value) {
        if (isRedacting()) {
            return false;
        }
        if (name == null || Settings.isRecorders(name)) {
            refuse(String.valueOf(name), name == null ? "no name" : "the recorder itself says it");
            return false;
        }
        String key = cut(name, Settings.NAME_CHARS);
        Boolean early = keepEarly(key, value);
        if (Boolean.FALSE.equals(early)) {
            refuse(key, TOO_MANY);
        }
        return early == null ? send(key, value) : early;
    }

    /**
     * Passes an annotation to the recording in progress; a value of null removes the name. Returns whether it
     * is kept.
     */
    private static boolean send(String name, String value) {
        Settings wanted = Recording.settings();
        if (wanted == null) {
            return false;
        }
        String kept = value == null ? null : redacted(wanted, name, value);
        if (!Native.annotate(name, kept)) {
            if (Recording.isOn()) {
                refuse(name, TOO_MANY);
            }
            return false;
        }
        put(name, kept);
        return value == null || kept != null;
    }

    /**
     * What the app's Redactor leaves of a value; null for nothing. Annotations that it sets during the call
     * are not kept.
     */
    static String redacted(Settings wanted, String name, String value) {
        if (wanted.redactor == null) {
            return value;
        }
        REDACTS.set(name);
        try {
            return wanted.redacted(name, value);
        } finally {
            REDACTS.remove();
        }
    }

    /** Whether the app's Redactor is being called on this thread. */
    static boolean isRedacting() {
        return REDACTS.get() != null;
    }

    /** Adds an annotation of the recorder itself to the recording in progress. Any thread. */
    public static void note(String name, String value) {
        try {
            if (!isRedacting()) {
                send(name, value);
            }
        } catch (Throwable fault) {
            Faults.log(fault);
        }
    }

    /**
     * Keeps an annotation for the next recording; a value of null removes the name.
     *
     * @return whether there was room; null while a recording is in progress, which must get the annotation
     *     itself
     */
    private static synchronized Boolean keepEarly(String name, String value) {
        if (early == null && name.equals(passing)) {
            rest.put(name, value == null ? null : cut(value, MOST_CHARS));
            return true;
        }
        if (early == null) {
            rest.remove(name);
            return null;
        }
        if (value == null && Recording.settings() == null) {
            early.remove(name);
            return true;
        }
        // A recording that has begun may have got the name already: its removal waits, too.
        boolean isNew = value != null && !early.containsKey(name);
        if (isNew && !Settings.hasOwnPlace(name) && others() >= Settings.MOST_NAMES) {
            return false;
        }
        early.put(name, value == null ? null : cut(value, MOST_CHARS));
        return true;
    }

    private static int others() {
        int others = 0;
        for (Map.Entry<String, String> each : early.entrySet()) {
            others += Settings.hasOwnPlace(each.getKey()) || each.getValue() == null ? 0 : 1;
        }
        return others;
    }

    /** Takes one of the annotations that were kept, as name and value; null when there is none. */
    private static synchronized String[] takeEarly() {
        return early == null ? null : takeFirst(early);
    }

    /**
     * Takes one of the annotations that still wait. After {@code MOST_EARLY} of them newer values wait no
     * longer: else the app could add one for each that is taken.
     */
    private static synchronized String[] takeRest(int given) {
        String[] annotation = takeFirst(rest);
        passing = annotation == null || given >= MOST_EARLY ? null : annotation[0];
        return annotation;
    }

    private static String[] takeFirst(Map<String, String> waiting) {
        if (waiting.isEmpty()) {
            return null;
        }
        String name = waiting.keySet().iterator().next();
        return new String[] {name, waiting.remove(name)};
    }

    /**
     * The first {@code most} characters of a text. Cuts between whole characters, as the native side does.
     */
    static String cut(String text, int most) {
        return text.codePointCount(0, text.length()) <= most ? text : text.substring(0, text.offsetByCodePoints(0, most));
    }

    /**
     * Notes that an annotation of the app is not kept. Counts it for the status, and logs it, unless the
     * previous refusal was the same.
     */
    private static void refuse(String name, String why) {
        String refusal = '"' + name.replace('\t', ' ').replace('\n', ' ') + "\": " + why;
        boolean isNew;
        synchronized (Annotations.class) {
            refused++;
            isNew = !refusal.equals(lastRefusal);
            lastRefusal = refusal;
        }
        if (isNew) {
            RecorderLog.warn("an annotation is not kept, " + refusal);
        }
    }

    /** Adds a line to the status: the number of annotations that were refused. */
    public static synchronized String addTo(String lines) {
        if (refused == 0 || lines == null) {
            return lines;
        }
        return lines + "annotations\t1\t" + refused + " not kept, the last one " + lastRefusal + '\n';
    }

    /**
     * Keeps the values of {@code scene} and {@code user}, which the Java side itself writes.
     *
     * @param value null removes the name
     */
    private static void put(String name, String value) {
        if (value == null) {
            KEPT.remove(name);
        } else if (name.equals("scene") || name.equals("user")) {
            KEPT.put(name, value);
        }
    }

    /** The value of an annotation that the Java side writes; an empty text when it is not set. */
    public static String get(String name) {
        String value = KEPT.get(name);
        return value == null ? "" : value;
    }
}
