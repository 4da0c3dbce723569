// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal.report;

import android.os.Process;
import io.loopbox.internal.platform.App;
import io.loopbox.internal.platform.FileAge;
import io.loopbox.internal.platform.Framework;
import io.loopbox.internal.platform.OwnFile;
import io.loopbox.internal.platform.RecorderLog;
import io.loopbox.internal.recording.Recording;
import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;

/** Reports on disk that were not deleted yet. */
public final class PendingReports {
    private static final String SUFFIX = ".lbx";

    /**
     * The age from which an unfinished file is deleted, in milliseconds. No process writes a file for that
     * long.
     */
    private static final long UNFINISHED_MS = 600_000;
    public static final String TAKEN = "taken";

    /**
     * Of the reports that were handed out and not deleted, {@code KEPT} are kept, for {@code KEPT_MS} at
     * most.
     */
    private static final int KEPT = 20;

    private static final long KEPT_MS = 14 * FileAge.DAY_MS;

    private PendingReports() {}

    /**
     * The reports that no process has taken, and those that this process has taken, in the order of their
     * times. Reports to which a living process may still add something are left out.
     */
    public static List<File> list(File directory, String process) {
        tidy(directory, null);
        return found(directory, process);
    }

    private static List<File> found(File directory, String process) {
        List<Dated> dated = new ArrayList<Dated>();
        for (File file : reports(directory)) {
            if (!isBeingWritten(file)) {
                dated.add(new Dated(file));
            }
        }
        for (File file : takenIn(folderOf(directory, process))) {
            dated.add(new Dated(file));
        }
        return files(dated);
    }

    /**
     * Moves a report into the process's folder: so only one process gets it, and it is not deleted to make
     * room for new ones. When an ANR ended the report's process, the report also gets the system's trace of
     * the ANR, where that is configured, and the path of the system's profile.
     *
     * @return the moved file, or null when another process was quicker, or the file is gone or none of ours
     */
    public static File claim(File report, File directory, String process, Framework framework, boolean keepsTraces) {
        File own = folderOf(directory, process);
        File claimed = new File(own, report.getName());
        if (!own.equals(report.getParentFile())) {
            if (!directory.equals(report.getParentFile()) || !move(report, claimed)) {
                return null;
            }
            tidy(directory, claimed);
            attach(found(directory, process), claimed, directory, framework, keepsTraces);
        } else if (keepsTraces && OwnFile.isFile(claimed)) {
            SystemTrace.attach(found(directory, process), claimed, framework);
        }
        return OwnFile.isFile(claimed) ? claimed : null;
    }

    /** Claims all reports of {@link #list}. Returns those that belong to the process now. */
    public static List<File> take(File directory, String process, Framework framework, boolean keepsTraces) {
        File own = folderOf(directory, process);
        for (File file : reports(directory)) {
            if (!isBeingWritten(file)) {
                move(file, new File(own, file.getName()));
            }
        }
        tidy(directory, null);
        List<Dated> dated = new ArrayList<Dated>();
        for (File file : takenIn(own)) {
            dated.add(new Dated(file));
        }
        List<File> taken = files(dated);
        attach(taken, null, directory, framework, keepsTraces);
        return taken;
    }

    /**
     * Adds what the system has kept to the reports that it belongs to. Needs all reports of the process,
     * because only together do they show which report that is. Only the report {@code only} is changed, or
     * any report if {@code only} is null.
     */
    private static void attach(
            List<File> reports, File only, File directory, Framework framework, boolean keepsTraces) {
        if (keepsTraces) {
            SystemTrace.attach(reports, only, framework);
        }
        ProcessState.attach(reports, only, framework);
        SystemProfiles.attach(directory, reports, only, framework);
    }

    private static File folderOf(File directory, String process) {
        return new File(new File(directory, TAKEN), process.replace('/', '_').replace(':', '_'));
    }

    /** Whether a process's folder is really inside the recorder's, and not a link. */
    private static boolean isOwn(File folder) {
        return OwnFile.isFolder(folder.getParentFile()) && OwnFile.isFolder(folder);
    }

    /** Moves a file in one step. When several processes move the same file, one of them succeeds. */
    private static boolean move(File report, File to) {
        File folder = to.getParentFile();
        if (!isOwn(folder) && !(folder.mkdirs() && isOwn(folder))) {
            RecorderLog.warn("cannot create " + folder);
            return false;
        }
        if (!OwnFile.isFile(report)) {
            return false;
        }
        boolean moved = report.renameTo(to);
        if (!moved && report.exists()) {
            RecorderLog.warn("cannot move " + report);
        }
        return moved;
    }

    private static List<File> files(List<Dated> dated) {
        Collections.sort(dated);
        List<File> files = new ArrayList<File>();
        for (Dated each : dated) {
            files.add(each.file);
        }
        return files;
    }

    /**
     * A report with its time. Reports are ordered by this time. It is read from the report, because file
     * times have whole seconds on some versions.
     */
    private static final class Dated implements Comparable<Dated> {
        final File file;
        private final long timeMs;

        Dated(File file) {
            this.file = file;
            long time = 0;
            try {
                time = Digest.read(file).timeMs;
            } catch (IOException unreadable) {
                RecorderLog.warn("cannot read " + file, unreadable);
            }
            timeMs = time;
        }

        @Override
        public int compareTo(Dated other) {
            return Long.valueOf(timeMs).compareTo(other.timeMs);
        }
    }

    private static boolean isBeingWritten(File file) {
        try {
            Digest digest = Digest.read(file);
            return digest.isOpen() && isAlive(digest);
        } catch (IOException unreadable) {
            // Written in one step: no process completes it.
            return false;
        }
    }

    private static boolean isAlive(Digest digest) {
        if (digest.pid == Process.myPid()) {
            return Recording.isOn();
        }
        // Of an app's processes each may read those of the others.
        return digest.process.equals(App.processName(Long.toString(digest.pid)));
    }

    /**
     * Deletes excess reports of every process: otherwise a process that the app does not have any more would
     * keep its reports forever.
     *
     * @param claimed a report that was claimed just now and stays, however old it is, or null
     */
    private static void tidy(File directory, File claimed) {
        File[] processes = new File(directory, TAKEN).listFiles();
        if (processes != null) {
            for (File each : processes) {
                tidyFolder(each, claimed);
            }
        }
    }

    private static void tidyFolder(File folder, File claimed) {
        File[] all = takenIn(folder);
        long now = System.currentTimeMillis();
        deleteUnfinished(folder, now);
        int kept = claimed != null && folder.equals(claimed.getParentFile()) ? 1 : 0;
        for (int at = all.length - 1; at >= 0; at--) {
            if (all[at].equals(claimed)) {
                continue;
            }
            if (kept < KEPT && !FileAge.isOlder(all[at], KEPT_MS, now)) {
                kept++;
            } else if (!all[at].delete()) {
                RecorderLog.warn("cannot delete " + all[at]);
            }
        }
    }

    /**
     * Deletes unfinished files of reports. A process that was killed while it wrote such a file has left it.
     */
    private static void deleteUnfinished(File folder, long now) {
        File[] files = isOwn(folder) ? folder.listFiles() : null;
        if (files == null) {
            return;
        }
        for (File file : files) {
            boolean unfinished = file.getName().endsWith(SUFFIX + ReportSections.UNFINISHED);
            if (unfinished && FileAge.isOlder(file, UNFINISHED_MS, now) && !file.delete()) {
                RecorderLog.warn("cannot delete " + file);
            }
        }
    }

    /** The taken reports in a process's folder, oldest first. */
    private static File[] takenIn(File folder) {
        return isOwn(folder) ? reports(folder) : new File[0];
    }

    /** The reports in a folder, oldest first. */
    private static File[] reports(File directory) {
        List<File> found = new ArrayList<File>();
        File[] files = directory.listFiles();
        if (files != null) {
            for (File file : files) {
                if (file.getName().endsWith(SUFFIX) && OwnFile.isFile(file)) {
                    found.add(file);
                }
            }
        }
        File[] sorted = found.toArray(new File[0]);
        final long now = System.currentTimeMillis();
        Arrays.sort(
                sorted,
                new Comparator<File>() {
                    @Override
                    public int compare(File a, File b) {
                        return FileAge.compare(a, b, now);
                    }
                });
        return sorted;
    }
}
