// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.testing;

import androidx.annotation.NonNull;
import androidx.annotation.Nullable;
import io.loopbox.Report;
import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.CRC32;

/**
 * Makes a {@link Report}, for tests of a {@link io.loopbox.Listener} and of code that sends reports: a file
 * that {@code Report} and {@code loopbox show} read like one of the recorder. By default it is a complete
 * report of a hang of six seconds, at the present time.
 *
 * <p>With loopbox-noop the file is the same, but the report returns no values, like any report there.
 */
public final class ReportBuilder {
    private static final long NANOS_PER_MS = 1_000_000;

    /** The uptime at which the subject of the report began. */
    private static final long BEFORE_MS = 60_000;

    private static final int SYSTEM_PID = 1_234;
    private static final int SYSTEM_UID = 1_000;
    private static final int SIGSEGV = 11;
    private static final int MOST_LINE_CHARS = 300;

    private final Map<String, String> annotations = new LinkedHashMap<String, String>();
    private final List<long[]> warnings = new ArrayList<long[]>();
    private Report.Kind kind = Report.Kind.HANG;
    private Report.Verdict verdict;
    private String label = "";
    private boolean complete = true;
    private String processName = "com.example.app";
    private int pid = 4321;
    private long timeMs = System.currentTimeMillis();
    private String digest;
    private String appVersion = "";
    private long durationMs = 6_000;
    private StackTraceElement[] stack = {};
    private String fingerprint;
    private String title;
    private File systemProfile;

    /**
     * Sets the kind. {@link Report.Kind#UNKNOWN} makes a file that cannot be read. {@link #write} refuses
     * values that do not fit the kind.
     */
    @NonNull
    public ReportBuilder kind(@NonNull Report.Kind kind) {
        this.kind = Text.given(kind, "kind");
        return this;
    }

    /**
     * Sets the verdict. The default is PROBABLE for an ANR, RESPONSIVE for a report on request or by SIGQUIT,
     * HANG for all others.
     */
    @NonNull
    public ReportBuilder verdict(@NonNull Report.Verdict verdict) {
        this.verdict = Text.given(verdict, "verdict");
        return this;
    }

    /** Sets the text that {@code Loopbox.dump} was given; makes the kind {@link Report.Kind#REQUESTED}. */
    @NonNull
    public ReportBuilder label(@NonNull String label) {
        this.label = Text.line(Text.given(label, "label"));
        return kind(Report.Kind.REQUESTED);
    }

    /**
     * Sets whether the report is complete. The report that {@link io.loopbox.FirstFileListener#onFirstFile}
     * gets is not complete.
     */
    @NonNull
    public ReportBuilder complete(boolean complete) {
        this.complete = complete;
        return this;
    }

    @NonNull
    public ReportBuilder processName(@NonNull String processName) {
        this.processName = Text.line(Text.given(processName, "processName"));
        return this;
    }

    @NonNull
    public ReportBuilder pid(int pid) {
        this.pid = pid;
        return this;
    }

    /** Sets the time of the report, as System.currentTimeMillis counts. */
    @NonNull
    public ReportBuilder timeMs(long timeMs) {
        this.timeMs = timeMs;
        return this;
    }

    /** Sets the line for services that take no files. By default it is made of the other values. */
    @NonNull
    public ReportBuilder digest(@NonNull String digest) {
        this.digest = Text.line(Text.given(digest, "digest"));
        return this;
    }

    @NonNull
    public ReportBuilder appVersion(@NonNull String name, long code) {
        appVersion = Text.line(Text.given(name, "name")) + " (" + code + ")";
        return this;
    }

    @NonNull
    public ReportBuilder annotate(@NonNull String name, @NonNull String value) {
        annotations.put(Text.line(Text.given(name, "name")), Text.line(Text.given(value, "value")));
        return this;
    }

    /** Sets how long the subject of the report took. Use 0 for a main thread that was idle. */
    @NonNull
    public ReportBuilder durationMs(long durationMs) {
        if (durationMs < 0) {
            throw new IllegalArgumentException("a duration of " + durationMs + " ms");
        }
        this.durationMs = durationMs;
        return this;
    }

    /** Sets the stack, the innermost frame first. Leave it out for a main thread that was idle. */
    @NonNull
    public ReportBuilder stackTrace(@NonNull StackTraceElement... stack) {
        this.stack = Text.given(stack, "stack").clone();
        return this;
    }

    /** Sets the fingerprint, eight hexadecimal digits. The default is a number made of the title. */
    @NonNull
    public ReportBuilder fingerprint(@NonNull String fingerprint) {
        this.fingerprint = Text.line(Text.given(fingerprint, "fingerprint"));
        return this;
    }

    /** Sets the title. The default is the innermost frame of the stack. */
    @NonNull
    public ReportBuilder title(@NonNull String title) {
        this.title = Text.line(Text.given(title, "title"));
        return this;
    }

    /** Adds a warning of an ANR. {@link Report#getAnrWarning} returns the last one. */
    @NonNull
    public ReportBuilder anrWarning(int id, int type, long consumedMs, long timeoutMs) {
        if (consumedMs < 0 || timeoutMs < 0) {
            throw new IllegalArgumentException("a time that is less than 0");
        }
        warnings.add(new long[] {id, type, consumedMs, timeoutMs});
        return this;
    }

    /** Sets {@link Report#getSystemProfile}; the file need not exist. */
    @NonNull
    public ReportBuilder systemProfile(@Nullable File systemProfile) {
        this.systemProfile = systemProfile;
        return this;
    }

    /**
     * Writes the file, in a folder that is created if it does not exist. The test deletes the file, or its
     * code under test does.
     *
     * @throws IllegalStateException when the verdict does not fit the kind: Report derives the kind from it
     * @throws IOException when it cannot be written
     */
    @NonNull
    public Report write(@NonNull File folder) throws IOException {
        checkVerdict();
        if (!Text.given(folder, "folder").isDirectory() && !folder.mkdirs()) {
            throw new IOException("cannot create " + folder);
        }
        String name = "loopbox-" + pid + "-" + (BEFORE_MS + durationMs) + "-";
        int number = 1;
        File file = new File(folder, name + number + ".lbx");
        while (!file.createNewFile()) {
            number++;
            file = new File(folder, name + number + ".lbx");
        }
        FileOutputStream out = new FileOutputStream(file);
        try {
            out.write(kind == Report.Kind.UNKNOWN ? new byte[] {'?'} : bytes());
        } finally {
            out.close();
        }
        return Report.of(file);
    }

    private Report.Verdict verdict() {
        if (verdict != null) {
            return verdict;
        } else if (kind == Report.Kind.ANR) {
            return Report.Verdict.PROBABLE;
        }
        boolean rests = kind == Report.Kind.REQUESTED || kind == Report.Kind.SIGQUIT;
        return rests ? Report.Verdict.RESPONSIVE : Report.Verdict.HANG;
    }

    private void checkVerdict() {
        boolean ofAnr = verdict() == Report.Verdict.PROBABLE || verdict() == Report.Verdict.CONFIRMED;
        boolean fits = true;
        if (kind == Report.Kind.ANR) {
            fits = ofAnr;
        } else if (kind == Report.Kind.SIGQUIT) {
            fits = !ofAnr && verdict() != Report.Verdict.HANG;
        } else if (kind == Report.Kind.HANG || kind == Report.Kind.RECOVERED) {
            fits = !ofAnr;
        }
        if (!fits) {
            throw new IllegalStateException("a report of the verdict " + verdict() + " is none of the kind " + kind);
        }
    }

    private byte[] bytes() {
        ReportFile file = new ReportFile();
        file.section("DIGE", lines().getBytes(Payload.UTF_8));
        file.section("META", meta());
        file.section("MAIN", main());
        file.section("ANR", anr());
        if (!warnings.isEmpty()) {
            file.section("WARN", warnings());
        }
        file.section("HIST", new Payload().number(0).toBytes());
        file.section("FEAT", new Payload().number(0).toBytes());
        file.section("SYMB", symbols());
        if (hasStack()) {
            file.section("TREE", tree());
        }
        file.section("PEND", new Payload().number(2).text("made by loopbox-testing").number(dumpNs()).number(0).number(0).toBytes());
        file.section("STAT", new Payload().number(0).toBytes());
        if (systemProfile != null) {
            file.section("NOTE", ("system_profile\n" + systemProfile.getPath()).getBytes(Payload.UTF_8));
        }
        return file.end();
    }

    private String reason() {
        switch (kind) {
            case ANR:
            case SIGQUIT:
                return "sigquit";
            case RECOVERED:
                return "recovered";
            case CRASH:
                return "crash";
            case REQUESTED:
                return "requested";
            default:
                return "hang";
        }
    }

    private boolean hasStack() {
        return durationMs > 0 && stack.length > 0;
    }

    private String title() {
        if (title != null) {
            return title;
        }
        String method = hasStack() ? stack[0].getClassName() + "." + stack[0].getMethodName() : "main unknown";
        return durationMs == 0 ? "main idle" : Text.line(method);
    }

    private String fingerprint() {
        if (fingerprint != null) {
            return fingerprint;
        }
        CRC32 sum = new CRC32();
        sum.update(title().getBytes(Payload.UTF_8));
        return String.format("%08x", sum.getValue());
    }

    private String digest() {
        if (digest != null) {
            return digest;
        }
        String line = verdict().name().toLowerCase(java.util.Locale.ROOT) + ": " + title() + ", " + durationMs + " ms";
        return line.length() <= MOST_LINE_CHARS ? line : line.substring(0, MOST_LINE_CHARS);
    }

    /** The lines of the digest, as Report reads them. */
    private String lines() {
        StringBuilder notes = new StringBuilder();
        for (Map.Entry<String, String> note : annotations.entrySet()) {
            notes.append(notes.length() == 0 ? "" : "\t").append(note.getKey()).append('\t').append(note.getValue());
        }
        String[] fields = {
            reason(),
            processName,
            String.valueOf(pid),
            String.valueOf(timeMs),
            digest(),
            verdict().name().toLowerCase(java.util.Locale.ROOT),
            complete ? "closed" : "first",
            label,
            appVersion,
            String.valueOf(durationMs),
            fingerprint(),
            title(),
            notes.toString(),
        };
        StringBuilder lines = new StringBuilder();
        for (String field : fields) {
            lines.append(lines.length() == 0 ? "" : "\n").append(field);
        }
        for (StackTraceElement frame : hasStack() ? stack : new StackTraceElement[0]) {
            lines.append('\n').append(Text.line(frame.getClassName())).append('\t').append(Text.line(frame.getMethodName()));
            lines.append('\t').append(fileOf(frame)).append('\t').append(frame.getLineNumber());
        }
        for (long[] warning : warnings) {
            lines.append("\nanr_warning");
            for (long value : warning) {
                lines.append('\t').append(value);
            }
        }
        return lines.toString();
    }

    private static String fileOf(StackTraceElement frame) {
        return frame.getFileName() == null ? "" : Text.line(frame.getFileName());
    }

    private long dumpNs() {
        return (BEFORE_MS + durationMs) * NANOS_PER_MS;
    }

    private byte[] meta() {
        Payload meta = new Payload().text("loopbox-testing");
        switch (kind) {
            case REQUESTED:
                meta.number(0).text(label);
                break;
            case ANR:
            case SIGQUIT:
                meta.number(1);
                break;
            case RECOVERED:
                meta.number(2).flag(false);
                break;
            case CRASH:
                meta.number(2).flag(true).signed(SIGSEGV);
                break;
            default:
                meta.number(3);
        }
        // Process: level and ABI are not known, nor when it started; then both clocks.
        meta.number(pid & 0xffffffffL).text(processName).number(0).text("").text(appVersion).text("").flag(false).number(0);
        meta.number(dumpNs()).number(Math.max(0, timeMs));
        // The limits: the recorder's own.
        meta.number(300 * NANOS_PER_MS).number(50 * NANOS_PER_MS).number(100).number(8);
        meta.number(50 * NANOS_PER_MS).number(10 * NANOS_PER_MS);
        meta.number(annotations.size());
        for (Map.Entry<String, String> note : annotations.entrySet()) {
            meta.text(note.getKey()).text(note.getValue());
        }
        return meta.toBytes();
    }

    private byte[] main() {
        Payload main = new Payload();
        if (durationMs == 0) {
            return main.number(1).number(dumpNs()).toBytes();
        }
        main.number(2).number(1).number(BEFORE_MS * NANOS_PER_MS).number(dumpNs()).flag(false).number(1).flag(false);
        return main.toBytes();
    }

    private byte[] anr() {
        Payload anr = new Payload().number(verdict().ordinal()).number(durationMs * NANOS_PER_MS);
        anr.flag(false).number(0).number(0).flag(false).flag(false).number(0).flag(false);
        boolean signalled = reason().equals("sigquit");
        anr.flag(signalled);
        if (signalled) {
            anr.number(0).number(SYSTEM_PID).number(SYSTEM_UID).number(1);
        }
        return anr.flag(false).flag(false).toBytes();
    }

    private byte[] warnings() {
        Payload all = new Payload().number(warnings.size());
        for (long[] warning : warnings) {
            all.number(dumpNs()).signed(warning[0]).signed(warning[1]).number(warning[2]).number(warning[3]);
        }
        return all.toBytes();
    }

    private byte[] symbols() {
        StackTraceElement[] frames = hasStack() ? stack : new StackTraceElement[0];
        Payload symbols = new Payload().number(frames.length);
        for (StackTraceElement frame : frames) {
            symbols.text(Text.line(frame.getClassName())).text(Text.line(frame.getMethodName())).text("").text(fileOf(frame));
        }
        symbols.number(frames.length);
        for (int at = 0; at < frames.length; at++) {
            symbols.number(0).number(at).flag(!frames[at].isNativeMethod());
            if (!frames[at].isNativeMethod()) {
                symbols.number(0);
            }
            int line = frames[at].getLineNumber();
            symbols.flag(line > 0);
            if (line > 0) {
                symbols.number(line);
            }
        }
        return symbols.toBytes();
    }

    /** A tree of one stack, taken at the end, with the outermost frame first. */
    private byte[] tree() {
        Payload tree = new Payload().number(1).number(BEFORE_MS * NANOS_PER_MS).number(0);
        tree.number(1).number(0).number(10 * NANOS_PER_MS);
        tree.number(1).number(durationMs * NANOS_PER_MS);
        tree.number(stack.length);
        for (int at = stack.length - 1; at >= 0; at--) {
            tree.number(at).number(0).number(1).number(at == 0 ? 0 : 1);
        }
        return tree.number(0).number(0).number(0).toBytes();
    }
}
