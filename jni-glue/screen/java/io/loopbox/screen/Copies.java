// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.screen;

import io.loopbox.Report;
import java.io.File;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * Copies of the newest reports in a separate folder: the screen keeps showing a report that the app has
 * uploaded, moved or deleted. When there are too many, the oldest one that is no hang is deleted first. One
 * thread writes copies; any may read and delete them.
 */
final class Copies {
    static final int MOST = 20;

    private static final String SUFFIX = ".lbx";
    private static final int LONGEST_NAME = 200;

    private final File folder;

    Copies(File folder) {
        this.folder = folder;
    }

    /** Whether a report is of a hang of this app: worth a notification. Reads the file. */
    static boolean isHang(Report report) {
        Report.Kind kind = report.getKind();
        return kind == Report.Kind.ANR || kind == Report.Kind.HANG || kind == Report.Kind.RECOVERED;
    }

    /**
     * Copies a report. An earlier copy of the report has less content and is replaced in one step, because it
     * may be read at the same time.
     */
    File keep(File report) throws IOException {
        if (!isName(report.getName())) {
            throw new IOException("no name for a report: " + report.getName());
        }
        if (!folder.isDirectory() && !folder.mkdirs()) {
            throw new IOException("cannot create " + folder);
        }
        File copy = new File(folder, report.getName());
        File partial = new File(folder, report.getName() + ".new");
        copy(report, partial);
        if (!partial.renameTo(copy)) {
            throw new IOException("cannot rename " + partial);
        }
        trim();
        return copy;
    }

    private static void copy(File from, File to) throws IOException {
        FileInputStream in = new FileInputStream(from);
        try {
            FileOutputStream out = new FileOutputStream(to);
            try {
                byte[] part = new byte[16 << 10];
                for (int read = in.read(part); read > 0; read = in.read(part)) {
                    out.write(part, 0, read);
                }
            } finally {
                out.close();
            }
        } finally {
            in.close();
        }
    }

    private void trim() throws IOException {
        List<Dated> all = dated();
        for (int wanted = all.size() - MOST; wanted > 0; wanted--) {
            Dated leaves = all.get(all.size() - 1);
            for (Dated each : all) {
                // The oldest one that is of no hang, where there is one besides the newest.
                if (!each.isHang && each != all.get(0)) {
                    leaves = each;
                }
            }
            all.remove(leaves);
            delete(leaves.file.getName());
        }
    }

    /** All copies, the newest first. */
    List<File> all() {
        List<File> files = new ArrayList<File>();
        for (Dated each : dated()) {
            files.add(each.file);
        }
        return files;
    }

    private List<Dated> dated() {
        List<Dated> found = new ArrayList<Dated>();
        String[] names = folder.list();
        if (names != null) {
            for (String name : names) {
                if (isName(name)) {
                    found.add(new Dated(new File(folder, name)));
                }
            }
        }
        Collections.sort(found);
        return found;
    }

    private static final class Dated implements Comparable<Dated> {
        final File file;
        final boolean isHang;
        private final long timeMs;

        Dated(File file) {
            this.file = file;
            Report report = Report.of(file);
            isHang = isHang(report);
            timeMs = report.getTimeMs();
        }

        @Override
        public int compareTo(Dated other) {
            int later = Long.valueOf(other.timeMs).compareTo(timeMs);
            return later != 0 ? later : other.file.compareTo(file);
        }
    }

    /** The copy of this name, or null. Names of files outside of the folder are refused. */
    File find(String name) {
        File file = isName(name) ? new File(folder, name) : null;
        return file != null && file.isFile() ? file : null;
    }

    void delete(String name) throws IOException {
        File file = find(name);
        if (file != null && !file.delete() && file.exists()) {
            throw new IOException("cannot delete " + file);
        }
    }

    /** Whether it is a name that the recorder gives to reports: no path, not a hidden file. */
    private static boolean isName(String name) {
        if (name == null || !name.endsWith(SUFFIX) || name.startsWith(".") || name.length() > LONGEST_NAME) {
            return false;
        }
        for (int at = 0; at < name.length(); at++) {
            char letter = name.charAt(at);
            boolean isPlain = letter < 0x7f && Character.isLetterOrDigit(letter) || "._-".indexOf(letter) >= 0;
            if (!isPlain) {
                return false;
            }
        }
        return true;
    }
}
