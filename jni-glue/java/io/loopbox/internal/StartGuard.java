// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal;

import android.os.Process;
import android.system.ErrnoException;
import android.system.Os;
import android.system.OsConstants;
import io.loopbox.internal.platform.App;
import io.loopbox.internal.platform.Exit;
import io.loopbox.internal.platform.Framework;
import io.loopbox.internal.platform.RecorderLog;
import java.io.BufferedReader;
import java.io.File;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;

/**
 * Keeps the recorder off where it may be the reason why the app ends. A crash in the loading of the library,
 * the installation, a hook or a signal handler would happen again at each start. So a mark is put into the
 * recorder's folder before the library is loaded, and the worker removes it some seconds after the
 * installation. A start that finds a mark follows a start that ended within seconds. Three such early ends in
 * a row switch the recorder off, each time for more starts. The start after that is a try: if it ends within
 * seconds too, this counts like three. A start that lasts removes the mark and all history, and so does
 * another version of the app.
 *
 * <p>The system kills apps all the time. Where it reports how a process ended, since Android 11, only crashes
 * and ANRs count.
 */
final class StartGuard {
    /** After this many starts in a row that ended within seconds, the guard switches the recorder off. */
    private static final int DEATHS = 3;

    /** For how many starts the recorder is off: the first time, the second time, and each time after that. */
    private static final int[] STARTS_OFF = {5, 25, 125};

    private static final int OWNER_ONLY = 0600;

    private static final int MOST_READABLE = 64;

    /**
     * Whether this process has counted its start already. A second installation in the same process is no new
     * start.
     */
    private static boolean used;

    /** Why this start is refused, or null. It holds for the process, also for an installation elsewhere. */
    private static String refused;

    private final File mark;
    private final String process;
    private final String version;

    StartGuard(File directory, String process, String version) {
        // The hash is of all of it, where the rest cannot be a file's name.
        mark = new File(directory, "start-" + readable(process) + "-" + Integer.toHexString(process.hashCode()));
        this.process = process;
        this.version = version.replace('\n', ' ');
    }

    /**
     * The part of a process's name that may be in a file's name. This uses no regular expression, because the
     * first one of a process takes milliseconds.
     */
    private static String readable(String process) {
        StringBuilder name = new StringBuilder();
        for (int at = 0; at < Math.min(MOST_READABLE, process.length()); at++) {
            char each = process.charAt(at);
            boolean letter = each >= 'a' && each <= 'z' || each >= 'A' && each <= 'Z';
            name.append(letter || each >= '0' && each <= '9' || each == '.' ? each : '_');
        }
        return name.toString();
    }

    /**
     * Counts this start. On the main thread: it costs the creation of a file, and after a start that ended
     * within seconds also reading it. The system is asked only where the recorder would be switched off.
     *
     * @return null, or why the recorder is off
     */
    String begin(Framework framework) {
        if (!used) {
            used = true;
            refused = count(framework);
        }
        return refused;
    }

    private String count(Framework framework) {
        try {
            create();
            return null;
        } catch (Exception unwritable) {
            try {
                if (!App.isThere(mark)) {
                    RecorderLog.info("starts are not counted: " + unwritable);
                    return null;
                }
                return again(framework);
            } catch (Exception unreadable) {
                return "start guard: it cannot be read how earlier starts ended: " + unreadable.getMessage();
            }
        }
    }

    private void create() throws ErrnoException, IOException {
        State first = new State();
        first.addThisStart();
        try {
            write(OsConstants.O_EXCL, first);
        } catch (ErrnoException refused) {
            // The first start of all.
            if (refused.errno != OsConstants.ENOENT || !mark.getParentFile().mkdirs()) {
                throw refused;
            }
            write(OsConstants.O_EXCL, first);
        }
    }

    /** The mark's path, for the native worker, which removes it. */
    String path() {
        return mark.getPath();
    }

    /**
     * Removes the mark, because nothing was installed and the process continues. The next installation in
     * this process counts as a new start.
     */
    void end() {
        used = false;
        if (!mark.delete()) {
            RecorderLog.info("there is no " + mark);
        }
    }

    /**
     * Counts this start when an earlier start has left a mark.
     *
     * @return null, or why the recorder is off
     * @throws IOException when the mark cannot be read
     */
    private String again(Framework framework) throws IOException {
        State state = read();
        int most = state.blown == 0 ? DEATHS : 1;
        if (state.startsOff == 0 && state.ended.size() >= most) {
            forgive(state.ended, framework.exits());
            if (state.ended.size() >= most) {
                state.ended.clear();
                state.startsOff = STARTS_OFF[Math.min(state.blown, STARTS_OFF.length - 1)];
                state.blown++;
            }
        }
        boolean off = state.startsOff > 0;
        if (off) {
            state.startsOff--;
        } else {
            state.addThisStart();
        }
        try {
            write(0, state);
        } catch (Exception unwritable) {
            RecorderLog.info("this start is not counted: " + unwritable);
        }
        return off
                ? "start guard: earlier starts ended within seconds; starts until the next try: " + state.startsOff
                : null;
    }

    /** Removes the starts that, as the system knows, did not end by a fault in the process. */
    private void forgive(List<long[]> ended, Exit[] exits) {
        for (Iterator<long[]> each = ended.iterator(); each.hasNext(); ) {
            long[] start = each.next();
            Exit exit = Exit.find(exits, process, (int) start[0], start[1], Collections.<long[]>emptyList());
            if (exit != null && !exit.isFault()) {
                each.remove();
            }
        }
    }

    /** The content of the mark. */
    private static final class State {
        /** How often the recorder was switched off. */
        int blown;

        /** For how many more starts the recorder is off. */
        int startsOff;

        /** Process id and time of each start that has not lasted, as far as is known. */
        final List<long[]> ended = new ArrayList<long[]>();

        void addThisStart() {
            ended.add(new long[] {Process.myPid(), System.currentTimeMillis()});
        }
    }

    /**
     * Writes a line with the app's version, one with numbers, and one for each start. Writes over the earlier
     * mark, which stays where the disk has no room for another one.
     */
    private void write(int flag, State state) throws ErrnoException, IOException {
        StringBuilder text = new StringBuilder(version);
        text.append('\n').append(state.blown).append(' ').append(state.startsOff).append('\n');
        for (long[] start : state.ended) {
            text.append(start[0]).append(' ').append(start[1]).append('\n');
        }
        byte[] bytes = text.toString().getBytes(StandardCharsets.UTF_8);
        int flags = OsConstants.O_WRONLY | OsConstants.O_CREAT | flag;
        FileDescriptor file = Os.open(mark.getPath(), flags, OWNER_ONLY);
        try {
            int written = Os.write(file, bytes, 0, bytes.length);
            if (written != bytes.length) {
                throw new IOException("only " + written + " bytes were written");
            }
            Os.ftruncate(file, written);
        } finally {
            Os.close(file);
        }
    }

    /**
     * Reads the state. A file of another version, or one that was cut off by the end of a process, does not
     * count.
     */
    private State read() throws IOException {
        State state = new State();
        BufferedReader reader = new BufferedReader(new InputStreamReader(new FileInputStream(mark), "UTF-8"));
        try {
            if (version.equals(reader.readLine())) {
                String[] numbers = reader.readLine().split(" ");
                state.blown = Integer.parseInt(numbers[0]);
                state.startsOff = Integer.parseInt(numbers[1]);
                for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                    numbers = line.split(" ");
                    state.ended.add(new long[] {Long.parseLong(numbers[0]), Long.parseLong(numbers[1])});
                }
            }
            return state;
        } catch (RuntimeException damaged) {
            return new State();
        } finally {
            reader.close();
        }
    }
}
