// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.screen;

import io.loopbox.Report;
import java.util.ArrayList;
import java.util.List;

/** A report in words, in sections. */
final class ReportText {
    private static final int MOST_ENTRIES = 12;
    private static final int MOST_STACKS = 3;
    private static final int MOST_OF_QUEUE = 10;
    private static final int MOST_HOLDER_FRAMES = 8;

    /** A stack with a smaller share of the samples than this has little to do with a hang. */
    private static final int LEAST_PERCENT = 5;

    private ReportText() {}

    /** A heading and the text below it. */
    static final class Section {
        final String title;
        final List<String> lines = new ArrayList<String>();

        Section(String title) {
            this.title = title;
        }
    }

    /** What the report is about, in a few words. Reads the file. */
    static String headline(Report report) {
        switch (report.getKind()) {
            case ANR:
                boolean isSure = report.getVerdict() == Report.Verdict.CONFIRMED;
                return isSure ? "ANR: the system reported it" : "Probably an ANR: the system sent its signal";
            case HANG:
                return "Hang: nothing shows that the system noticed";
            case RECOVERED:
                return "The process was ended in a hang";
            case CRASH:
                return "The process crashed";
            case REQUESTED:
                return report.getLabel().isEmpty() ? "Asked for" : "Asked for: " + report.getLabel();
            case SIGQUIT:
                return "Asked for stacks by the system; main responded";
            default:
                return "Cannot be read";
        }
    }

    /** How long ago, in one unit. */
    static String age(long thenMs, long nowMs) {
        long minutes = (nowMs - thenMs) / 60_000;
        if (minutes < 1) {
            return "just now";
        }
        if (minutes < 60) {
            return minutes + " min ago";
        }
        return minutes < 48 * 60 ? minutes / 60 + " h ago" : minutes / (24 * 60) + " days ago";
    }

    static List<Section> sections(ReportFile report) {
        List<Section> all = new ArrayList<Section>();
        add(all, running(report));
        add(all, locks(report));
        for (int nth = 0; nth < Math.min(MOST_STACKS, report.stacks.size()); nth++) {
            Stacks.Stack stack = report.stacks.get(nth);
            if (nth == 0 || stack.samples * 100L >= (long) stack.of * LEAST_PERCENT) {
                Section section = new Section("Main thread in " + stack.samples + " of " + stack.of + " samples");
                section.lines.addAll(stack.frames);
                all.add(section);
            }
        }
        add(all, before(report));
        add(all, queue(report));
        add(all, app(report));
        return all;
    }

    private static void add(List<Section> all, Section section) {
        if (!section.lines.isEmpty()) {
            all.add(section);
        }
    }

    private static Section running(ReportFile report) {
        Section section = new Section("Main runs");
        if (report.running != null) {
            String ran = time(report.asOfNs - report.runningSinceNs);
            String all = report.endedAfterNs >= 0 ? ", " + time(report.endedAfterNs) + " in all" : "";
            section.lines.add(report.running);
            section.lines.add("for " + ran + all);
        }
        return section;
    }

    private static Section locks(ReportFile report) {
        Section section = new Section(report.deadlock ? "Cause: a deadlock" : "Cause: a lock");
        String who = "main";
        for (ReportFile.Wait wait : report.locks) {
            String holder = wait.holder == null ? ", which no thread holds" : ", held by " + wait.holder;
            section.lines.add(who + " waits for " + wait.object + holder);
            int most = Math.min(MOST_HOLDER_FRAMES, wait.holderStack.size());
            for (String frame : wait.holderStack.subList(0, most)) {
                section.lines.add("    " + frame);
            }
            who = wait.holder == null ? "it" : wait.holder;
        }
        return section;
    }

    private static Section before(ReportFile report) {
        Section section = new Section("Before, newest first");
        int oldest = Math.max(0, report.history.size() - MOST_ENTRIES);
        for (int at = report.history.size() - 1; at >= oldest; at--) {
            ReportFile.Entry entry = report.history.get(at);
            section.lines.add(seconds(entry.startNs - report.asOfNs) + "  " + entry(entry));
        }
        return section;
    }

    private static String entry(ReportFile.Entry entry) {
        switch (entry.kind) {
            case IDLE:
                return time(entry.wallNs) + " idle";
            case FROZEN:
                return time(entry.wallNs) + " frozen: the process did not run";
            case UNSEEN:
                return time(entry.wallNs) + " not seen: another library had the hook";
            default:
                String what = entry.count == 1 ? "1 message" : entry.count + " messages";
                String slowest = slowest(entry);
                return time(entry.workNs) + " in " + what + (slowest.isEmpty() ? "" : ", the slowest " + slowest);
        }
    }

    private static String slowest(ReportFile.Entry entry) {
        for (ReportFile.Detail detail : entry.details) {
            if (detail.token == entry.slowestToken && !detail.name.isEmpty()) {
                return time(entry.slowestNs) + ": " + detail.name;
            }
        }
        return entry.slowestToken < 0 ? "" : time(entry.slowestNs);
    }

    private static Section queue(ReportFile report) {
        Section section = new Section("The queue");
        int most = Math.min(MOST_OF_QUEUE, report.queue.size());
        section.lines.addAll(report.queue.subList(0, most));
        int more = report.queue.size() - most + report.queueLeftOut;
        if (more > 0) {
            section.lines.add("and " + more + " more lines");
        }
        return section;
    }

    private static Section app(ReportFile report) {
        Section section = new Section("App");
        if (!report.appVersion.isEmpty()) {
            section.lines.add(report.appVersion);
        }
        section.lines.add(report.device + (report.device.isEmpty() ? "" : ", ") + "API " + report.apiLevel);
        section.lines.addAll(report.annotations);
        return section;
    }

    /** The report as plain text for people. */
    static String plain(String headline, String digest, List<Section> sections) {
        StringBuilder text = new StringBuilder(headline).append('\n').append(digest).append('\n');
        for (Section section : sections) {
            text.append('\n').append(section.title).append('\n');
            for (String line : section.lines) {
                text.append("  ").append(line).append('\n');
            }
        }
        return text.toString();
    }

    static String time(long ns) {
        return ns < 1_000_000_000L ? ns / 1_000_000 + " ms" : seconds(ns);
    }

    /** Seconds with two decimals, without the user's locale. */
    private static String seconds(long ns) {
        long hundredths = (Math.abs(ns) + 5_000_000) / 10_000_000;
        long part = hundredths % 100;
        return (ns < 0 ? "-" : "") + hundredths / 100 + (part < 10 ? ".0" : ".") + part + " s";
    }
}
