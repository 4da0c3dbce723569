// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox;

import androidx.annotation.AnyThread;
import androidx.annotation.NonNull;
import androidx.annotation.Nullable;
import androidx.annotation.WorkerThread;
import java.io.File;
import java.util.LinkedHashMap;
import java.util.Map;

/** Replaces the reports of builds with the recorder. No method here returns a report with content. */
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
        /** The system reported the ANR. */
        CONFIRMED
    }

    private final File file;

    Report(File file) {
        this.file = file;
    }

    /** A report without any known value. */
    @AnyThread
    @NonNull
    public static Report of(@NonNull File file) {
        return new Report(file);
    }

    /** The file, to be sent as it is; {@code loopbox show} reads it. */
    @NonNull
    public File getFile() {
        return file;
    }

    /** Returns false: there is no recorder's folder. */
    @WorkerThread
    public boolean claim() {
        return false;
    }

    /** The kind is not known. */
    @WorkerThread
    @NonNull
    public Kind getKind() {
        return Kind.UNKNOWN;
    }

    /** The verdict is not known. */
    @WorkerThread
    @NonNull
    public Verdict getVerdict() {
        return Verdict.UNKNOWN;
    }

    /** Always "unreadable". */
    @WorkerThread
    @NonNull
    public String getReason() {
        return "unreadable";
    }

    /** Always empty. */
    @WorkerThread
    @NonNull
    public String getLabel() {
        return "";
    }

    /** Always false. */
    @WorkerThread
    public boolean isComplete() {
        return false;
    }

    /** Always empty. */
    @WorkerThread
    @NonNull
    public String getProcessName() {
        return "";
    }

    /** Always 0. */
    @WorkerThread
    public int getPid() {
        return 0;
    }

    /** Always 0. */
    @WorkerThread
    public long getTimeMs() {
        return 0;
    }

    /** Always 0. */
    @WorkerThread
    public long getExitTimeMs() {
        return 0;
    }

    /** Always null. */
    @WorkerThread
    @Nullable
    public File getSystemProfile() {
        return null;
    }

    /** Always null. */
    @WorkerThread
    @Nullable
    public File getHangTrace() {
        return null;
    }

    /** Always null. */
    @WorkerThread
    @Nullable
    public AnrWarning getAnrWarning() {
        return null;
    }

    /** Always empty. */
    @WorkerThread
    @NonNull
    public String getDigest() {
        return "";
    }

    /** Always empty. */
    @WorkerThread
    @NonNull
    public String getAppVersion() {
        return "";
    }

    /** Always 0. */
    @WorkerThread
    public long getAppVersionCode() {
        return 0;
    }

    /** Always empty. */
    @WorkerThread
    @NonNull
    public Map<String, String> getAnnotations() {
        return new LinkedHashMap<String, String>();
    }

    /** Always 0. */
    @WorkerThread
    public long getDurationMs() {
        return 0;
    }

    /** Always empty. */
    @WorkerThread
    @NonNull
    public String getThreadName() {
        return "";
    }

    /** Always empty. */
    @WorkerThread
    @NonNull
    public StackTraceElement[] getStackTrace() {
        return new StackTraceElement[0];
    }

    /** Always empty. */
    @WorkerThread
    @NonNull
    public String getFingerprint() {
        return "";
    }

    /** Always empty. */
    @WorkerThread
    @NonNull
    public String getTitle() {
        return "";
    }

    @Override
    public String toString() {
        return file.getName();
    }
}
