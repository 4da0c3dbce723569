// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal;

import android.os.Process;
import android.util.Log;
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
    private static final String TAKEN = "taken";

    /** How many reports that were handed out and not deleted are kept, and for how long. */
    private static final int KEPT = 20;

    private static final long KEPT_MS = 14 * FileAge.DAY_MS;

    private PendingReports() {}

    /**
     * Moves the reports of a directory into one of the calling process: each goes to one process, and none is deleted
     * under it to make room for new ones. One that its living process may put more into stays where it is. One whose process
     * an ANR ended gets the system's trace of it, where that is wanted, and the path of the system's profile.
     */
    public static List<File> take(File directory, String process, Framework framework, boolean keepsTraces) {
        File all = new File(directory, TAKEN);
        List<File> taken = new ArrayList<File>();
        File own = new File(all, process.replace('/', '_').replace(':', '_'));
        if (!own.isDirectory() && !own.mkdirs()) {
            Log.w(Tag.LOOPBOX, "cannot create " + own);
            return new ArrayList<File>();
        }
        for (File file : reports(directory)) {
            if (isBeingWritten(file)) {
                continue;
            }
            // False when another process was quicker.
            File moved = new File(own, file.getName());
            if (file.renameTo(moved)) {
                taken.add(moved);
            } else if (file.exists()) {
                Log.w(Tag.LOOPBOX, "cannot move " + file);
            }
        }
        if (keepsTraces) {
            SystemTrace.attach(taken, framework);
        }
        File[] processes = all.listFiles();
        if (processes != null) {
            for (File each : processes) {
                tidy(each);
            }
        }
        List<Dated> dated = new ArrayList<Dated>();
        for (File file : reports(own)) {
            dated.add(new Dated(file));
        }
        Collections.sort(dated);
        List<File> found = new ArrayList<File>();
        for (Dated each : dated) {
            found.add(each.file);
        }
        ProcessState.attach(found, framework);
        SystemProfiles.attach(directory, found, framework);
        return found;
    }

    /** Ordered by what the report says: file times have whole seconds on some versions. */
    private static final class Dated implements Comparable<Dated> {
        final File file;
        private final long timeMs;

        Dated(File file) {
            this.file = file;
            long time = 0;
            try {
                time = Digest.read(file).timeMs;
            } catch (IOException unreadable) {
                Log.w(Tag.LOOPBOX, "cannot read " + file, unreadable);
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
            return Recorder.isOn();
        }
        // Of an app's processes each may look at the others.
        return digest.process.equals(App.processName(Long.toString(digest.pid)));
    }

    /** Of every process: one that is not in the app any more would keep its reports forever. */
    private static void tidy(File folder) {
        File[] all = reports(folder);
        long now = System.currentTimeMillis();
        for (int at = 0; at < all.length; at++) {
            boolean old = FileAge.isOlder(all[at], KEPT_MS, now) || at < all.length - KEPT;
            if (old && !all[at].delete()) {
                Log.w(Tag.LOOPBOX, "cannot delete " + all[at]);
            }
        }
    }

    /** Oldest first. */
    private static File[] reports(File directory) {
        List<File> found = new ArrayList<File>();
        File[] files = directory.listFiles();
        if (files != null) {
            for (File file : files) {
                if (file.isFile() && file.getName().endsWith(SUFFIX)) {
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
