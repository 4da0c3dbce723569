// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal.report;

import android.os.Process;
import android.os.SystemClock;
import io.loopbox.ProfileListener;
import io.loopbox.internal.platform.Background;
import io.loopbox.internal.platform.Deletion;
import io.loopbox.internal.platform.Exit;
import io.loopbox.internal.platform.Faults;
import io.loopbox.internal.platform.FileAge;
import io.loopbox.internal.platform.Framework;
import io.loopbox.internal.platform.MainLooper;
import io.loopbox.internal.platform.OwnFile;
import io.loopbox.internal.platform.ProfileSink;
import io.loopbox.internal.platform.RecorderLog;
import io.loopbox.internal.recording.Gate;
import io.loopbox.internal.recording.Recording;
import io.loopbox.internal.recording.Settings;
import java.io.BufferedReader;
import java.io.File;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;

/**
 * Profiles that the system takes of this app's ANRs (Android 16 and newer), and the traces that it is asked
 * for when a message becomes a suspect (16 QPR2). The path of each goes into the report of its ANR or hang;
 * the file stays where the system has put it. A profile may come a minute after the report, or to a later
 * process of the app. The recorder changes a report's file only until the report is handed out. So each
 * profile is noted in a separate file, and the notes are put into reports when these are handed out. Not for
 * the main thread.
 */
public final class SystemProfiles {
    private static final String NAME = ReportSections.SYSTEM_PROFILE;

    /** The prefix of names of hang reports; traces have such a name as their tag. */
    private static final String OURS = "loopbox-";

    private static final String FOLDER = "profiles";
    private static final Pattern DIGITS = Pattern.compile("\\d+");

    /** How long to wait after registration for a result of an earlier process. */
    private static final long FIRST_MS = 3_000;

    /**
     * The longest time between an ANR and its profile, which comes minutes later or at the next launch. An
     * older report belongs to another ANR.
     */
    private static final long LATEST_MS = 24L * 3_600_000;

    /** How long a note is kept: as long as a delivered report. */
    private static final long KEPT_MS = 14 * FileAge.DAY_MS;

    private static volatile CountDownLatch first = new CountDownLatch(0);
    private static volatile long asked;

    /** When a trace was last asked for; 0 for never. Guarded by the class's lock. */
    private static long tracedMs;

    private SystemProfiles() {}

    /** The triggers at which the system should take profiles, one bit each; 0 for none. */
    public static int wanted(Settings settings) {
        int anrs = settings.systemProfiles ? 1 << ProfileSink.ANR : 0;
        int traces = settings.hangTraceMs > 0 ? 1 << ProfileSink.RUNNING_TRACE : 0;
        return settings.profileTriggers | anrs | traces;
    }

    /** Asks the system for profiles, where it has them. */
    public static void start(final File directory, Settings settings, Framework framework) {
        final CountDownLatch came = new CountDownLatch(1);
        final Gate gate = Recording.gate();
        final ProfileListener listener = settings.profileListener;
        boolean wanted =
                framework.profile(
                        wanted(settings),
                        new ProfileSink() {
                            @Override
                            public void onProfile(int trigger, String tag, String path) {
                                try {
                                    onOne(new File(directory, FOLDER), gate, trigger, tag, path);
                                } catch (IOException fault) {
                                    RecorderLog.warn("a profile is not noted: " + fault);
                                } finally {
                                    came.countDown();
                                }
                                deliver(listener, gate, trigger, tag, path);
                            }
                        });
        if (wanted) {
            asked = SystemClock.uptimeMillis();
            first = came;
        }
    }

    private static void onOne(File folder, Gate gate, int trigger, String tag, String path) throws IOException {
        boolean isTrace = trigger == ProfileSink.RUNNING_TRACE && isOurs(tag);
        if ((isTrace || trigger == ProfileSink.ANR) && gate.enter()) {
            try {
                note(folder, path, isTrace ? tag : "");
            } finally {
                gate.leave();
            }
        }
    }

    /** Whether we requested the trace; the app may request traces itself. */
    private static boolean isOurs(String tag) {
        return tag != null && tag.startsWith(OURS);
    }

    /** Calls the listener on another thread, because this thread is the system's. */
    private static void deliver(
            final ProfileListener listener, final Gate gate, final int trigger, final String tag, final String path) {
        if (listener == null || trigger == ProfileSink.RUNNING_TRACE && !isOurs(tag)) {
            return;
        }
        Background.run(
                "loopbox-profile",
                new Runnable() {
                    @Override
                    public void run() {
                        if (!gate.isClosed()) {
                            listener.onProfile(new File(path), trigger, tag);
                        }
                    }
                });
    }

    /**
     * A message became a suspect: requests the trace that the system is recording, unless the last request
     * was made shortly before. Returns at once.
     *
     * @param report the file name, without its ending, that a report of this message would have
     */
    public static void suspected(final String report) {
        Settings wanted = Recording.settings();
        final Framework framework = Recording.framework();
        if (wanted == null || wanted.hangTraceMs == 0 || !isDue(wanted.hangTraceMs)) {
            return;
        }
        // It waits for another process.
        Background.run(
                "loopbox-trace",
                new Runnable() {
                    @Override
                    public void run() {
                        framework.traceNow(report);
                    }
                });
    }

    private static synchronized boolean isDue(long everyMs) {
        long now = SystemClock.uptimeMillis();
        if (tracedMs != 0 && now - tracedMs < everyMs) {
            return false;
        }
        tracedMs = now;
        return true;
    }

    /**
     * Asks the system for no more profiles. Does so on a separate thread, because the main thread calls this.
     */
    public static void stop(final Framework framework) {
        first.countDown();
        new Thread("loopbox-profiles") {
            @Override
            public void run() {
                try {
                    framework.profile(0, null);
                } catch (Throwable fault) {
                    Faults.log(fault);
                }
            }
        }.start();
    }

    /** Notes a result. Each process of the app gets each result: one of them notes it. */
    private static void note(File folder, String path, String tag) throws IOException {
        File noted = new File(folder, new File(path).getName());
        if (!folder.isDirectory() && !folder.mkdirs()) {
            throw new IOException("cannot create " + folder);
        }
        if (noted.exists()) {
            return;
        }
        File part = new File(folder, "." + Process.myPid() + noted.getName());
        write(part, System.currentTimeMillis() + "\n" + path + "\n" + tag);
        if (!part.renameTo(noted)) {
            throw new IOException("cannot rename " + part);
        }
    }

    private static void write(File file, String text) throws IOException {
        FileOutputStream out = new FileOutputStream(file);
        try {
            out.write(text.getBytes("UTF-8"));
        } finally {
            out.close();
        }
    }

    /**
     * Puts the noted paths of profiles and traces into the reports that they belong to.
     *
     * @param reports all that are there, oldest first
     * @param only the one report that may be written; null for all. What belongs to another one stays noted
     */
    static void attach(File directory, List<File> reports, File only, Framework framework) {
        try {
            File folder = new File(directory, FOLDER);
            if (first.getCount() == 0 && !folder.isDirectory()) {
                return;
            }
            Anrs anrs = new Anrs(reports, only, framework);
            if (anrs.lacksOne()) {
                long left = FIRST_MS - (SystemClock.uptimeMillis() - asked);
                if (!MainLooper.isCurrent() && left > 0) {
                    first.await(left, TimeUnit.MILLISECONDS);
                }
            }
            File[] notes = folder.listFiles();
            if (notes != null) {
                Arrays.sort(notes);
                for (File noted : notes) {
                    attach(noted, anrs);
                }
            }
        } catch (InterruptedException ended) {
            Thread.currentThread().interrupt();
        } catch (IOException fault) {
            RecorderLog.warn("no profiles into reports: " + fault);
        } catch (RuntimeException fault) {
            // The reports are there without them.
            RecorderLog.warn("no profiles into reports: " + fault);
        }
    }

    /** Deletes the profiles that a report names. */
    public static void deleteOf(File report) {
        try {
            for (String name : new String[] {NAME, ReportSections.HANG_TRACE}) {
                String path = ReportSections.note(report, name);
                if (path != null) {
                    Deletion.isDeleted(new File(path));
                }
            }
        } catch (IOException noReport) {
            // It names none.
            RecorderLog.info("no profile of " + report + ": " + noReport);
        }
    }

    /** Deletes what was noted, and the profiles. Returns whether nothing is left. */
    public static boolean deleteNoted(File directory) {
        File folder = new File(directory, FOLDER);
        File[] notes = OwnFile.isFolder(folder) ? folder.listFiles() : null;
        boolean none = Deletion.isRead(folder);
        for (File noted : notes == null ? new File[0] : notes) {
            try {
                String[] lines = read(noted);
                // It may be a folder of the app's, with other files.
                if (lines[0] == null || DIGITS.matcher(lines[0]).matches()) {
                    none &= lines[1] == null || Deletion.isDeleted(new File(lines[1]));
                    none &= Deletion.isDeleted(noted);
                }
            } catch (IOException unreadable) {
                RecorderLog.warn("cannot read " + noted + ": " + unreadable);
                none = false;
            }
        }
        Deletion.removeEmpty(folder);
        return none;
    }

    private static void attach(File noted, Anrs anrs) throws IOException {
        if (FileAge.isOlder(noted, KEPT_MS, System.currentTimeMillis())) {
            if (!noted.delete()) {
                RecorderLog.warn("cannot delete " + noted);
            }
            return;
        }
        String[] lines = read(noted);
        // An empty one was used: it stays, so that no other process notes the same result again.
        boolean isWhole = lines[1] != null && !noted.getName().startsWith(".");
        String tag = lines[2] == null ? "" : lines[2];
        if (isWhole && (tag.isEmpty() ? anrs.annotate(Long.parseLong(lines[0]), lines[1]) : anrs.annotate(tag, lines[1]))) {
            write(noted, "");
        }
    }

    /**
     * The three parts of a note: the time, the path, and the name of the report (empty for an ANR's profile).
     * A part that is missing is null.
     */
    private static String[] read(File noted) throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(new FileInputStream(noted), "UTF-8"));
        try {
            return new String[] {in.readLine(), in.readLine(), in.readLine()};
        } finally {
            in.close();
        }
    }

    /**
     * Reports of ANRs, for which there may be profiles. A profile names no process: it belongs to the last
     * ANR before it.
     */
    private static final class Anrs {
        private final List<File> reports;
        private final File only;
        private final Exit[] exits;

        Anrs(List<File> reports, File only, Framework framework) {
            this.reports = reports;
            this.only = only;
            exits = framework.exits();
        }

        /**
         * Whether the last ANR's report has no profile, and the process of that ANR has ended. Then the
         * system may still deliver the profile.
         */
        boolean lacksOne() throws IOException {
            File last = last(System.currentTimeMillis());
            return last != null && may(last) && exit(digest(last)) != null && ReportSections.note(last, NAME) == null;
        }

        /**
         * Adds {@code path} to the report of the ANR that a profile of the time {@code timeMs} belongs to.
         *
         * @return whether that report exists and may be written
         */
        boolean annotate(long timeMs, String path) throws IOException {
            File last = last(timeMs);
            if (last == null || !may(last) || ReportSections.note(last, NAME) != null) {
                return false;
            }
            ReportSections.annotate(last, NAME, path);
            return true;
        }

        /**
         * Adds the trace's path to the report of this name.
         *
         * @return whether that report exists
         */
        boolean annotate(String name, String path) throws IOException {
            for (File report : reports) {
                String file = report.getName();
                // That of a process which was killed in its hang is another one.
                if (may(report) && (file.equals(name + ".lbx") || file.equals(name + "-recovered.lbx"))) {
                    ReportSections.annotate(report, ReportSections.HANG_TRACE, path);
                    return true;
                }
            }
            return false;
        }

        /**
         * The report of the last ANR before a time. Null when that ANR is too old, or when a later ANR before
         * this time has no report any more.
         */
        private File last(long timeMs) {
            for (int at = reports.size() - 1; at >= 0; at--) {
                Digest digest = digest(reports.get(at));
                if (digest.timeMs <= timeMs && digest.isAnr()) {
                    boolean fits = timeMs - digest.timeMs <= LATEST_MS && !isFollowed(digest, timeMs);
                    return fits ? reports.get(at) : null;
                }
            }
            return null;
        }

        private boolean isFollowed(Digest digest, long timeMs) {
            Exit own = exit(digest);
            for (Exit exit : exits == null ? new Exit[0] : exits) {
                if (exit != own && exit.reason == Exit.ANR && exit.timeMs > digest.timeMs && exit.timeMs <= timeMs) {
                    return true;
                }
            }
            return false;
        }

        private boolean may(File report) {
            return only == null || only.equals(report);
        }

        private static Digest digest(File report) {
            try {
                return Digest.read(report);
            } catch (IOException unreadable) {
                return Digest.NONE;
            }
        }

        private Exit exit(Digest digest) {
            return digest.exit(exits);
        }
    }
}
