// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal.recording;

import io.loopbox.Logger;
import io.loopbox.ObserverAccess;
import io.loopbox.ProfileListener;
import io.loopbox.QueueAccess;
import io.loopbox.Redactor;
import io.loopbox.internal.platform.Faults;
import java.io.File;
import java.util.ArrayList;
import java.util.List;

/** The options that an app has chosen. The builder of {@code Config} documents and checks each. */
public final class Settings implements Cloneable {
    public File directory;
    public int pendingBytes = 64 << 10;
    public List<String> annotations = new ArrayList<String>();
    public double userShare = 1;
    public String userId = "";
    // Made from jni-glue/options.toml: fields
    public long groupMs = 300;
    public long detailMs = 50;
    public int slots = 100;
    public int detailsPerRecord = 8;
    public boolean sampling = true;
    public long sampleOnsetMs = 50;
    public long sampleIntervalMs = 10;
    public boolean sampleOnce;
    public int minSamples = 95;
    public int trees = 10;
    public boolean allNames = true;
    public boolean observer = true;
    public boolean printer = true;
    public boolean poll;
    public boolean mayReflect = true;
    public ObserverAccess observerAccess;
    public QueueAccess pollPeek;
    public boolean namedByPrinter;
    public boolean sigQuit = true;
    public long hangMs = 5_000;
    public long printerCheckMs = 60_000;
    public int pendingLines = 200;
    public long pendingMs = 200;
    public boolean keepObjects;
    public boolean redactThreadNames;
    public boolean digestAnnotations;
    public List<ReportSink> listeners;
    public Redactor redactor;
    public Logger logger;
    public boolean autoScene = true;
    public boolean watchInput;
    public FrameSettings frames;
    public boolean mainProcessOnly;
    public boolean pauseInBackground;
    public boolean systemProfiles;
    public int profileTriggers;
    public long hangTraceMs;
    public ProfileListener profileListener;
    public boolean anrWarnings = true;
    public boolean keepProcessState;
    public String appVersion = "";
    // End of what is made from jni-glue/options.toml

    /** A copy, which later changes of this object do not affect. */
    public Settings copy() {
        try {
            Settings copy = (Settings) clone();
            copy.annotations = new ArrayList<String>(annotations);
            return copy;
        } catch (CloneNotSupportedException never) {
            throw new IllegalStateException(never);
        }
    }

    /** Why this user is not recorded; null when the user is recorded. */
    public String leavesOut() {
        if (userShare >= 1 || UserShare.has(userShare, userId)) {
            return null;
        }
        double percent = Math.round(userShare * 1e6) / 1e4;
        String share = percent == (long) percent ? String.valueOf((long) percent) : String.valueOf(percent);
        return (userId.isEmpty() ? "no user id, and only " : "not among the ") + share + " % of users that userShare wants";
    }

    /** Whether a hook is to report messages. */
    public boolean isHooked() {
        return observer || printer;
    }

    // Made from jni-glue/options.toml: numbers
    /** The numbers in the order in which native code reads them. */
    public long[] numbers(int apiLevel) {
        return new long[] {
            apiLevel,
            pendingBytes,
            mayReflect ? 1 : 0,
            isHooked() ? 1 : 0,
            frames != null ? 1 : 0,
            frames != null && frames.listener != null ? 1 : 0,
            frames != null && frames.jankStacks ? 1 : 0,
            frames != null ? frames.jankFrameMs : 0,
            frames != null ? frames.skippedFrames : 0,
            frames != null ? frames.scenes : 0,
            groupMs,
            detailMs,
            slots,
            detailsPerRecord,
            sampling ? 1 : 0,
            sampleOnsetMs,
            sampleIntervalMs,
            sampleOnce ? 1 : 0,
            minSamples,
            trees,
            allNames ? 1 : 0,
            sigQuit ? 1 : 0,
            hangMs,
            pendingLines,
            pendingMs,
            keepObjects ? 1 : 0,
            redactThreadNames ? 1 : 0,
            digestAnnotations ? 1 : 0,
            hangTraceMs,
        };
    }
    // End of what is made from jni-glue/options.toml

    /**
     * The app can annotate {@code MOST_NAMES} names, besides those with a separate place. {@code NAME_CHARS}
     * characters of each name are kept.
     */
    public static final int MOST_NAMES = 16;

    static final int NAME_CHARS = 40;

    /** Whether the recorder itself sets the annotation of this name, so that the app cannot. */
    public static boolean isRecorders(String name) {
        return name.equals("foreground") || name.equals("system_start");
    }

    /**
     * Whether a name always has room, however many other names there are. The native side has the same rule
     * (annotations.rs).
     */
    public static boolean hasOwnPlace(String name) {
        return name.equals("scene") || name.equals("user") || isRecorders(name);
    }

    /** Where annotations begin in {@link #strings}: names and values in turn. */
    public static final int ANNOTATIONS_AT = 4;

    /** The strings in the order in which the native side reads them (settings.rs). */
    public String[] strings(File directory, String appVersion, String startMark, String killSwitch) {
        List<String> all = new ArrayList<String>();
        all.add(directory.getPath());
        all.add(appVersion);
        all.add(startMark);
        all.add(killSwitch);
        for (int at = 0; at + 1 < annotations.size(); at += 2) {
            String value = redacted(annotations.get(at), annotations.get(at + 1));
            if (value != null) {
                all.add(annotations.get(at));
                all.add(value);
            }
        }
        return all.toArray(new String[0]);
    }

    /** A value after redaction; null for nothing. */
    public String redacted(String name, String value) {
        try {
            return redactor == null ? value : redactor.redact(name, value);
        } catch (RuntimeException fault) {
            Faults.log(fault);
            return null;
        }
    }
}
