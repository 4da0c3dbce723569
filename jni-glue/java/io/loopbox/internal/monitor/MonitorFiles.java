// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal.monitor;

import io.loopbox.internal.platform.FileAge;
import io.loopbox.internal.platform.JsonLine;
import io.loopbox.internal.platform.LocalTime;
import io.loopbox.internal.platform.RecorderLog;
import io.loopbox.internal.recording.MonitorSettings;
import java.io.File;
import java.io.FileInputStream;
import java.io.FileNotFoundException;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.RandomAccessFile;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArraySet;
import java.util.concurrent.atomic.AtomicLong;
import java.util.zip.GZIPOutputStream;

/**
 * The files of the performance monitor, one per day: {@code uiperf-2026-11-22.jsonl}. A line is one write at
 * the end of the file. So a process that is killed loses at most the line that it writes, and two processes
 * write one after the other. For sending, a day's file gets a number and is packed: {@code
 * uiperf-2026-11-22.1.jsonl.gz}. Not for the main thread.
 */
public final class MonitorFiles {
    /** The name of the files' folder inside the recorder's, unless the app has chosen a folder. */
    public static final String FOLDER = "monitor";

    private static final String BEGIN = "uiperf-";
    private static final String LINES = ".jsonl";
    private static final String PACKED = ".jsonl.gz";
    private static final String PART = ".part";
    private static final int DAY_CHARS = "2026-11-22".length();

    /** The folders that the app has chosen. */
    private static final Set<File> CHOSEN = new CopyOnWriteArraySet<File>();

    /** The folder; null until the recorder's installation sets it. */
    private volatile File directory;

    private final int keepDays;
    private final long maxBytes;

    /**
     * How many bytes at the beginning of a file distinguish it from later files of the same name. They
     * contain the time and the process of the first line. An inode number would not do, because the file
     * system may reuse the number of a deleted file.
     */
    private static final int BEGINNING_BYTES = 96;

    /**
     * The last file into which this process has written the line of {@link Base}. {@code beginning} has the
     * first bytes of this file. With them the process notices that another process has packed the file and
     * begun a new one of the same name.
     */
    private File based;

    private byte[] beginning = {};

    /** The number of lines that could not be written since the last successful one. */
    private final AtomicLong lost = new AtomicLong();

    private String lastDay = "";
    private long appended;

    /** @param directory null if {@link #keepIn} sets it later */
    public MonitorFiles(File directory, MonitorSettings settings) {
        this.directory = directory;
        if (directory != null) {
            CHOSEN.add(directory);
        }
        keepDays = settings.keepDays;
        maxBytes = settings.maxBytes;
    }

    /** The folders that the app has chosen for its monitors in this process. Any thread. */
    public static Set<File> folders() {
        return CHOSEN;
    }

    /** Sets the folder of the files, unless one is set already. {@code folder} is null if it is not known. */
    public void keepIn(File folder) {
        if (directory == null) {
            directory = folder;
        }
    }

    /**
     * Gives the line that describes the process. In each file it comes before all other lines of this
     * process. When lines could not be written, it comes again before the next line that can be written.
     */
    public interface Base {
        /**
         * The line.
         *
         * @param lost the number of earlier lines that could not be written
         */
        String line(long lost);
    }

    /**
     * Writes a line.
     *
     * @param day of the file
     * @return whether the line was written; the log has the reason if not
     */
    public synchronized boolean append(String day, String line, Base base) {
        try {
            File folder = directory;
            if (folder == null) {
                throw new IOException("it has no folder");
            }
            if (!folder.isDirectory() && !folder.mkdirs()) {
                throw new IOException("cannot create " + folder);
            }
            File file = new File(folder, BEGIN + day + LINES);
            if (file.length() >= maxBytes) {
                throw new IOException(file + " has as much as a day may have");
            }
            long missing = lost.get();
            if (!file.equals(based) || !begins(file, beginning) || missing > 0) {
                write(file, base.line(missing));
                based = file;
                beginning = read(file, 0, BEGINNING_BYTES);
                lost.addAndGet(-missing);
            }
            write(file, line);
            rotate(day);
            return true;
        } catch (IOException fault) {
            if (lost.getAndIncrement() == 0) {
                RecorderLog.warn("the monitor cannot write: " + fault);
            }
            return false;
        }
    }

    /** Counts a line that will not be written. Any thread: it does not wait for a file. */
    void lose() {
        lost.incrementAndGet();
    }

    private void write(File file, String line) throws IOException {
        // What a kill, a power loss or a full disk cut off ends here, and its reader skips it.
        byte[] bytes = JsonLine.bytes((isTorn(file) ? "\n" : "") + line + '\n');
        // Opens with O_APPEND.
        OutputStream out = new FileOutputStream(file, true);
        try {
            out.write(bytes);
        } finally {
            out.close();
        }
        appended += bytes.length;
    }

    private static boolean isTorn(File file) throws IOException {
        byte[] end = read(file, file.length() - 1, 1);
        return end.length == 1 && end[0] != '\n';
    }

    private static boolean begins(File file, byte[] beginning) throws IOException {
        return beginning.length > 0 && Arrays.equals(read(file, 0, beginning.length), beginning);
    }

    /**
     * Reads up to {@code most} bytes of a file, starting at {@code from}. The result is empty if the file is
     * empty or does not exist.
     */
    private static byte[] read(File file, long from, int most) throws IOException {
        RandomAccessFile in;
        try {
            if (file.length() == 0) {
                return new byte[0];
            }
            in = new RandomAccessFile(file, "r");
        } catch (FileNotFoundException packed) {
            return new byte[0];
        }
        try {
            in.seek(from);
            byte[] bytes = new byte[most];
            return Arrays.copyOf(bytes, Math.max(0, in.read(bytes)));
        } finally {
            in.close();
        }
    }

    /** Deletes old or excess files, if the day has changed or much was written since the last time. */
    private void rotate(String today) {
        if (today.equals(lastDay) && appended < maxBytes / 16) {
            return;
        }
        lastDay = today;
        appended = 0;
        long now = LocalTime.daysOf(today);
        List<File> kept = new ArrayList<File>();
        List<File> ofWrongDays = new ArrayList<File>();
        long bytes = 0;
        for (File file : list()) {
            long day = LocalTime.daysOf(day(file));
            // A day that cannot be says nothing: the clock was wrong.
            boolean isKnown = FileAge.canBe(day * FileAge.DAY_MS, now * FileAge.DAY_MS);
            if (isKnown ? isOld(day, now) : FileAge.isOlder(file, keepDays * FileAge.DAY_MS, System.currentTimeMillis())) {
                delete(file);
            } else {
                (isKnown ? kept : ofWrongDays).add(file);
                bytes += file.length();
            }
        }
        // Since the last start of the phone.
        kept.addAll(ofWrongDays);
        String running = BEGIN + today + LINES;
        for (File file : kept) {
            if (bytes > maxBytes && !file.getName().equals(running)) {
                bytes -= file.length();
                delete(file);
            }
        }
    }

    /** Whether a file is old; false when the clock cannot be right. */
    private boolean isOld(long day, long now) {
        return now * FileAge.DAY_MS >= FileAge.EARLIEST_MS && now - day >= keepDays;
    }

    private static void delete(File file) {
        if (!file.delete()) {
            RecorderLog.warn("cannot delete " + file);
        }
    }

    /** The folder; null before the recorder's installation. */
    File directory() {
        return directory;
    }

    /** All files, oldest day first. A file that a killed process left half packed does not count. */
    public List<File> list() {
        List<File> found = new ArrayList<File>();
        File folder = directory;
        String[] names = folder == null ? null : folder.list();
        if (names != null) {
            Arrays.sort(names);
            for (String name : names) {
                File file = new File(folder, name);
                if ((name.endsWith(LINES) || name.endsWith(PACKED)) && LocalTime.daysOf(day(file)) >= 0) {
                    found.add(file);
                }
            }
        }
        return found;
    }

    /** The day of a file; an empty text for another file. */
    static String day(File file) {
        String name = file.getName();
        int end = BEGIN.length() + DAY_CHARS;
        return name.startsWith(BEGIN) && name.length() > end && name.charAt(end) == '.'
                ? name.substring(BEGIN.length(), end)
                : "";
    }

    /** Packs all files, and returns those that can be sent. */
    synchronized List<File> pack() throws IOException {
        List<File> packed = new ArrayList<File>();
        for (File file : list()) {
            File lines = file;
            if (file.getName().endsWith(PACKED)) {
                packed.add(file);
                continue;
            }
            if (file.getName().length() == BEGIN.length() + DAY_CHARS + LINES.length()) {
                // What is written from now on goes into a new file.
                lines = numbered(file);
                if (!file.renameTo(lines)) {
                    throw new IOException("cannot rename " + file);
                }
            }
            File target = new File(directory, lines.getName() + ".gz");
            if (!target.exists()) {
                pack(lines, target);
                packed.add(target);
            }
            delete(lines);
        }
        return packed;
    }

    private File numbered(File file) {
        for (int number = 1; ; number++) {
            File lines = new File(directory, BEGIN + day(file) + '.' + number + LINES);
            if (!lines.exists() && !new File(directory, lines.getName() + ".gz").exists()) {
                return lines;
            }
        }
    }

    /**
     * Packs lines into the target, which is written under another name first: it is either complete or
     * missing.
     */
    private static void pack(File lines, File target) throws IOException {
        File part = new File(target.getPath() + PART);
        FileOutputStream out = new FileOutputStream(part);
        try {
            GZIPOutputStream gzip = new GZIPOutputStream(out);
            InputStream in = new FileInputStream(lines);
            try {
                byte[] some = new byte[16 << 10];
                for (int read = in.read(some); read >= 0; read = in.read(some)) {
                    gzip.write(some, 0, read);
                }
            } finally {
                in.close();
            }
            gzip.finish();
            // Before the lines are deleted.
            out.getFD().sync();
        } finally {
            out.close();
        }
        if (!part.renameTo(target)) {
            throw new IOException("cannot rename " + part);
        }
    }
}
