// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.screen;

import java.util.ArrayList;
import java.util.List;

/** What main did in the seconds before the report, as bars along a line of time. */
final class Timeline {
    private static final long LEAST_NS = 10_000_000_000L;

    /** The kinds of bars. */
    enum Kind {
        GROUP,
        SINGLE,
        IDLE,
        FROZEN,
        UNSEEN,
        /** A message inside of a group, by name. */
        DETAIL,
        /** What main did at the time of the report. */
        RUNNING
    }

    /** A bar; its ends are fractions of the line, 0 to 1. */
    static final class Bar {
        final Kind kind;
        final float from;
        final float to;

        /** The share of its time in which main worked, 0 to 1. */
        final float work;

        Bar(Kind kind, float from, float to, float work) {
            this.kind = kind;
            this.from = from;
            this.to = to;
            this.work = work;
        }
    }

    /** The bars in drawing order: later ones cover earlier ones. */
    final List<Bar> bars = new ArrayList<Bar>();

    /** The length of the line in time. */
    final long lengthNs;

    private final long beginNs;

    private Timeline(long beginNs, long lengthNs) {
        this.beginNs = beginNs;
        this.lengthNs = lengthNs;
    }

    static Timeline of(ReportFile report) {
        boolean runs = report.runningSinceNs >= 0;
        long endNs = report.asOfNs;
        if (runs && report.endedAfterNs >= 0) {
            endNs = Math.max(endNs, report.runningSinceNs + report.endedAfterNs);
        }
        long ranNs = runs ? Math.max(0, endNs - report.runningSinceNs) : 0;
        // What came before a long hang is still there to be seen.
        long lengthNs = Math.max(LEAST_NS, ranNs + ranNs / 4);
        Timeline line = new Timeline(endNs - lengthNs, lengthNs);
        for (ReportFile.Entry entry : report.history) {
            float work = entry.wallNs > 0 ? (float) entry.workNs / entry.wallNs : 0;
            line.add(Kind.valueOf(entry.kind.name()), entry.startNs, entry.wallNs, work);
        }
        for (ReportFile.Entry entry : report.history) {
            if (entry.kind == ReportFile.Kind.GROUP) {
                for (ReportFile.Detail detail : entry.details) {
                    line.add(Kind.DETAIL, detail.startNs, detail.wallNs, 1);
                }
            }
        }
        if (runs) {
            line.add(Kind.RUNNING, report.runningSinceNs, ranNs, 1);
        }
        return line;
    }

    private void add(Kind kind, long startNs, long wallNs, float work) {
        float from = place(startNs);
        float to = place(startNs + wallNs);
        if (to > 0 && from < 1) {
            bars.add(new Bar(kind, Math.max(0, from), Math.min(1, to), Math.max(0, Math.min(1, work))));
        }
    }

    private float place(long ns) {
        return (float) ((double) (ns - beginNs) / lengthNs);
    }
}
