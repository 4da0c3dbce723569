// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal.recording;

import io.loopbox.internal.platform.App;
import io.loopbox.internal.platform.Framework;
import java.io.File;

/** The state of the recording in progress. {@code Recorder} begins and ends it. Any thread. */
public final class Recording {
    // No constants of the compiler: whose first use makes a text, for which there may be no memory when the
    // app stops.
    public static final String SWITCHED_OFF = "switched off by the app".intern();
    public static final String UNINSTALLED = "uninstalled".intern();

    /** The settings of the recording in progress; null while nothing is recorded. */
    private static volatile Settings settings;

    /** Everything that the recording writes or passes to listeners goes through this gate. */
    private static volatile Gate gate = new Gate();

    private static volatile Framework framework = Framework.NONE;
    private static volatile Place place;

    /** Why nothing is recorded, as long as nothing is recorded. */
    private static volatile String offBecause = "not installed";

    private Recording() {}

    /**
     * Begins the recording on the Java side: from now on the getters of this class return its values. Only
     * for code that may begin and end a recording.
     */
    public static void begin(Settings wanted, Framework asked, Place where) {
        framework = asked;
        place = where;
        gate = new Gate();
        settings = wanted;
    }

    /**
     * Ends the recording: nothing is written or passed to listeners any more. Only for code that may begin
     * and end a recording.
     */
    public static void end() {
        settings = null;
        gate.close();
    }

    public static boolean isOn() {
        return settings != null;
    }

    /** The settings of the recording, or null. */
    public static Settings settings() {
        return settings;
    }

    /** The gate of the recording in progress: what is written and passed to listeners goes through it. */
    public static Gate gate() {
        return gate;
    }

    /** The answers of the system about this process. */
    public static Framework framework() {
        return framework;
    }

    /** Where the recording writes. Only meaningful while something is recorded. */
    public static Place place() {
        return place;
    }

    /** Whether the system's traces, which name all threads, may be put into reports. */
    public static boolean keepsTraces() {
        Settings wanted = settings;
        return wanted != null && !wanted.redactThreadNames;
    }

    /** Why nothing is recorded, when nothing is recorded. */
    public static String offBecause() {
        return offBecause;
    }

    public static void setOffBecause(String why) {
        offBecause = why;
    }

    /**
     * The recording's folder, the app's version and the kill switch. An installation gets these in addition
     * to its settings.
     */
    public static final class Place {
        /** Where reports go. */
        public final File directory;

        /** Version name and code, or an empty text. */
        public final String appVersion;

        /** {@link App#killSwitch}; null without a Context. */
        public final File killSwitch;

        public Place(File directory, String appVersion, File killSwitch) {
            this.directory = directory;
            this.appVersion = appVersion;
            this.killSwitch = killSwitch;
        }
    }
}
