// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox;

import androidx.annotation.AnyThread;
import androidx.annotation.NonNull;
import androidx.annotation.Nullable;
import androidx.annotation.WorkerThread;
import io.loopbox.internal.platform.Exit;
import io.loopbox.internal.platform.Faults;
import io.loopbox.internal.recording.Recording;
import io.loopbox.internal.report.Digest;
import io.loopbox.internal.report.ReportSections;
import java.io.File;
import java.io.IOException;
import java.util.List;
import java.util.Map;

/**
 * A report file and what can be read of it without the desktop command. The file is read when one of its
 * values is first requested, on the calling thread.
 */
public final class Report {
    /** What happened, according to the present evidence in the file. */
    public enum Kind {
        /**
         * The system reports that this process did not respond, or has sent its signal while the main thread
         * was busy.
         */
        ANR,
        /**
         * A message, or what ran outside of messages, took longer than {@link Config.Builder#hangMs}, or main
         * slept for that long while messages were due.
         */
        HANG,
        /**
         * The report is from a process that ended during a hang, and nothing shows that it was an ANR or a
         * crash.
         */
        RECOVERED,
        /** The report is from a process that crashed. */
        CRASH,
        /** The app asked for it: {@link Loopbox#dump}, {@link Loopbox#dumpAsync}. */
        REQUESTED,
        /**
         * The system asked the process for its stacks while its main thread responded. Mostly another app
         * does not respond: the system then asks the recently used processes, too.
         */
        SIGQUIT,
        /** The file cannot be read, is gone, or is of an earlier version. */
        UNKNOWN
    }

    /** Whether it was an ANR, according to the present evidence in the file. */
    public enum Verdict {
        /** There is no verdict. */
        UNKNOWN,
        /** Nothing shows that the main thread did not respond. */
        RESPONSIVE,
        /** The main thread was busy for too long, and nothing shows that the system noticed. */
        HANG,
        /** The system has sent its signal while the main thread was busy for long. */
        PROBABLE,
        /** The system reported an ANR. */
        CONFIRMED
    }

    private volatile File file;
    private Digest digest;

    Report(File file) {
        this.file = file;
    }

    /** A report whose file the app has kept. The file is read when a value is first requested. */
    @AnyThread
    @NonNull
    public static Report of(@NonNull File file) {
        return new Report(file);
    }

    /** The file, to be sent as it is; {@code loopbox show} reads it. {@link #claim} moves it. */
    @NonNull
    public File getFile() {
        return file;
    }

    /**
     * Takes the report for the calling process, in one step of the file system: no other process gets it
     * then, and it is not deleted to make room for newer ones. The report of an ANR gets the system's trace
     * and profile now, where they are configured. The app may delete it; until then, or until 20 newer ones
     * are there or two weeks have passed, {@link Loopbox#pendingReports} of the same process returns it.
     *
     * @return false when another process was quicker, or the file is gone or not in the recorder's folder
     */
    @WorkerThread
    public boolean claim() {
        try {
            File claimed = Loopbox.claim(file);
            if (claimed != null) {
                file = claimed;
            }
            return claimed != null;
        } catch (Throwable fault) {
            Faults.log(fault);
            return false;
        }
    }

    /** What happened. */
    @WorkerThread
    @NonNull
    public Kind getKind() {
        String reason = getReason();
        if (reason.equals("requested")) {
            return Kind.REQUESTED;
        }
        if (reason.equals("crash")) {
            return Kind.CRASH;
        }
        Verdict verdict = getVerdict();
        if (verdict == Verdict.CONFIRMED || verdict == Verdict.PROBABLE) {
            return Kind.ANR;
        }
        if (reason.equals("recovered")) {
            return Kind.RECOVERED;
        }
        if (reason.equals("hang") || verdict == Verdict.HANG) {
            return Kind.HANG;
        }
        return reason.equals("sigquit") ? Kind.SIGQUIT : Kind.UNKNOWN;
    }

    /** Whether it was an ANR. */
    @WorkerThread
    @NonNull
    public Verdict getVerdict() {
        String word = read().verdict;
        for (Verdict verdict : Verdict.values()) {
            if (verdict.name().equalsIgnoreCase(word)) {
                return verdict;
            }
        }
        return Verdict.UNKNOWN;
    }

    /**
     * Why the recorder wrote it. "sigquit": the process was asked for its stacks, as at an ANR of this app or
     * another one. "hang": a message ran for too long. "recovered" or "crash": a process that is gone left
     * it. "frames": a process that is gone left it without a hang, because of its display frames.
     * "requested": the app requested it. "unreadable": the file is gone, or too damaged to read the reason.
     * {@link #getKind} says what happened, by all evidence in the file.
     */
    @WorkerThread
    @NonNull
    public String getReason() {
        return read().reason;
    }

    /**
     * The text that was given to {@link Loopbox#dump} or {@link Loopbox#dumpAsync}; empty for every other
     * report.
     */
    @WorkerThread
    @NonNull
    public String getLabel() {
        return read().label;
    }

    /**
     * Whether the pending queue, locks and other threads are in the report, or it is known that none of them
     * could be read. False in {@link FirstFileListener#onFirstFile}, and for good where the process ended
     * before they were read.
     */
    @WorkerThread
    public boolean isComplete() {
        return read().isComplete();
    }

    /** The name of the process that the report is about; empty when it cannot be read. */
    @WorkerThread
    @NonNull
    public String getProcessName() {
        return read().process;
    }

    /** The id of the process that the report is about; 0 when it cannot be read. */
    @WorkerThread
    public int getPid() {
        return (int) read().pid;
    }

    /**
     * When the report was written or, for a process that is gone, that process's last sign of life, as in
     * System.currentTimeMillis. 0 when it is not known.
     */
    @WorkerThread
    public long getTimeMs() {
        return read().timeMs;
    }

    /**
     * When the process ended, as recorded by the system: {@code ApplicationExitInfo.getTimestamp()}, by which
     * crash SDKs identify their events of the last process. 0 while the process lives, below Android 11, and
     * where the system has no record of it. Asks another process each time.
     */
    @WorkerThread
    public long getExitTimeMs() {
        Exit exit = read().exit(Recording.framework().exits());
        return exit == null ? 0 : exit.timeMs;
    }

    /**
     * The profile that the system took of this ANR, where {@link Config.Builder#systemProfiles} asked for it:
     * the app may send and delete it. It is known when {@link Loopbox#takePendingReports} hands the report
     * out, and not yet when a {@link Listener} is called. Null for none. Each call reads the whole report
     * file.
     */
    @WorkerThread
    @Nullable
    public File getSystemProfile() {
        return noted(ReportSections.SYSTEM_PROFILE);
    }

    /**
     * The trace that the system recorded of the whole device when this hang was first suspected, where {@link
     * Config.Builder#hangTraceMs} asked for it: the app may send and delete it. Known when {@link
     * Loopbox#takePendingReports} hands the report out, if the system had finished it. Null for none. Each
     * call reads the whole report file.
     */
    @WorkerThread
    @Nullable
    public File getHangTrace() {
        return noted(ReportSections.HANG_TRACE);
    }

    private File noted(String name) {
        try {
            String path = ReportSections.note(file, name);
            return path == null ? null : new File(path);
        } catch (IOException unreadable) {
            Faults.warn("cannot read " + file, unreadable);
            return null;
        }
    }

    /**
     * The system's last warning of an ANR that came while the main thread was late. Null for none: below
     * Android 17, for ANRs of which the system does not warn, and when the file cannot be read.
     */
    @WorkerThread
    @Nullable
    public AnrWarning getAnrWarning() {
        List<long[]> warnings = read().warnings();
        if (warnings.isEmpty()) {
            return null;
        }
        long[] last = warnings.get(warnings.size() - 1);
        return new AnrWarning((int) last[0], (int) last[1], last[2], last[3]);
    }

    /**
     * One line of at most 900 bytes in UTF-8 for services that take no files: what the main thread did, how
     * long, where, and how many messages waited. Empty when it cannot be read.
     */
    @WorkerThread
    @NonNull
    public String getDigest() {
        return read().line;
    }

    /**
     * The app's version that the report has: versionName, or what {@link Config.Builder#appVersion} was
     * given, without the code in parentheses at its end. An update may have replaced this version since the
     * report. Empty when it is not known.
     */
    @WorkerThread
    @NonNull
    public String getAppVersion() {
        String version = read().appVersion;
        int code = codeAt(version);
        return code < 0 ? version : version.substring(0, code).trim();
    }

    /**
     * The versionCode of {@link #getAppVersion}, or the number in parentheses at its end; 0 when it is not
     * known.
     */
    @WorkerThread
    public long getAppVersionCode() {
        String version = read().appVersion;
        int code = codeAt(version);
        return code < 0 ? 0 : Long.parseLong(version.substring(code + 1, version.length() - 1));
    }

    /** Where "(502)" begins in "5.2 (502)"; -1 for none. */
    private static int codeAt(String version) {
        int open = version.lastIndexOf('(');
        return open >= 0 && version.substring(open).matches("\\([0-9]{1,18}\\)") ? open : -1;
    }

    /**
     * The app's annotations at the time of the report, by name. The links to crash SDKs do not send them by
     * themselves. Empty without any, and when the file cannot be read.
     */
    @WorkerThread
    @NonNull
    public Map<String, String> getAnnotations() {
        return read().annotations();
    }

    /**
     * How long the subject of the report took, or had taken when the file got its last evidence, in
     * milliseconds. The subject is the running message, what ran outside of messages, or an earlier message
     * that took longer and had just ended. 0 when main was idle, and when it is not known.
     */
    @WorkerThread
    public long getDurationMs() {
        return read().durationMs;
    }

    /**
     * The name of the thread whose stack {@link #getStackTrace} is: "main". Empty when the file cannot be
     * read.
     */
    @WorkerThread
    @NonNull
    public String getThreadName() {
        return getProcessName().isEmpty() ? "" : "main";
    }

    /**
     * The last stack of the subject of {@link #getDurationMs}, the innermost frame first, with names as they
     * are in the app: a retracer can resolve them. As in Android's own traces, code without lines has the
     * position in its method as the line. At most 128 frames; empty when no stack was taken.
     */
    @WorkerThread
    @NonNull
    public StackTraceElement[] getStackTrace() {
        return read().stack();
    }

    /**
     * Equal for reports of the same problem, whatever their durations, lines and versions: eight hexadecimal
     * digits, the group id that {@code loopbox cluster} gives this file without a mapping. Where a shrinker
     * has renamed all classes of the app in the stack, it is valid for one version only. Empty when it is not
     * known.
     */
    @WorkerThread
    @NonNull
    public String getFingerprint() {
        return read().fingerprint;
    }

    /**
     * The method that {@link #getFingerprint} is about, or the message: without durations, lines and
     * annotations. Empty when it is not known.
     */
    @WorkerThread
    @NonNull
    public String getTitle() {
        return read().title;
    }

    /**
     * Reads the file when the first value is requested, and only once, because it may be moved or deleted
     * later.
     */
    private synchronized Digest read() {
        if (digest == null) {
            try {
                digest = Digest.read(file);
            } catch (IOException unreadable) {
                Faults.warn("cannot read " + file, unreadable);
                digest = Digest.NONE;
            }
        }
        return digest;
    }

    @Override
    public String toString() {
        return file.getName();
    }
}
