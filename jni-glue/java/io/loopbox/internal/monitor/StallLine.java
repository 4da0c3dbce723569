// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal.monitor;

import io.loopbox.internal.platform.JsonLine;
import io.loopbox.internal.platform.LocalTime;
import io.loopbox.internal.platform.Vitals;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.TimeZone;

/**
 * A message that took long, as the native side describes it (long_messages.rs), and its line in the file
 * (docs/monitor.md).
 */
public final class StallLine {
    /** The maximum length of a line, including its end. */
    public static final int MOST_BYTES = 4 << 10;

    /** How many stacks, and how many frames of each, are written: the largest of these that fits. */
    private static final int[][] CUTS = {{5, 48}, {4, 32}, {3, 24}, {2, 20}, {1, 20}, {1, 12}, {1, 6}, {1, 2}, {0, 0}};

    private static final int MOST_NAME = 160;
    private static final String FRAME_HANDLER = "android.view.Choreographer$FrameHandler";

    public final long token;
    public final long startNs;
    public final long wallNs;
    final Long waitNs;
    final Long cpuNs;
    final String ended;
    final String what;
    final String target;
    final String callback;
    final long samples;

    /** Display frames during the message; null where none are recorded, or its screen had none. */
    final StallFrames frames;

    final List<StackLines> stacks = new ArrayList<StackLines>();

    /** @param text the native side's description of the message, which begins with S */
    public StallLine(String text) {
        String[] lines = text.split("\n");
        String[] fields = lines[0].split("\t", -1);
        token = Long.parseLong(fields[1]);
        startNs = Long.parseLong(fields[2]);
        wallNs = Long.parseLong(fields[3]);
        waitNs = number(fields[4]);
        cpuNs = number(fields[5]);
        ended = new String[] {"returned", "threw", "unseen"}[Integer.parseInt(fields[6])];
        what = fields[7];
        target = cut(fields[8]);
        callback = cut(fields[9]);
        samples = Long.parseLong(fields[10]);
        frames = fields.length > 11 ? new StallFrames(fields, 11) : null;
        for (String line : Arrays.asList(lines).subList(1, lines.length)) {
            if (line.startsWith("#")) {
                String[] seen = line.split("\t");
                StackLines stack = new StackLines();
                stack.times = Long.parseLong(seen[1]);
                stack.firstNs = Long.parseLong(seen[2]);
                stack.lastNs = Long.parseLong(seen[3]);
                stacks.add(stack);
            } else {
                stacks.get(stacks.size() - 1).add(line);
            }
        }
    }

    static Long number(String field) {
        return field.isEmpty() ? null : Long.valueOf(field);
    }

    static String cut(String name) {
        return name.length() <= MOST_NAME ? name : name.substring(0, MOST_NAME - 1) + '\u2026';
    }

    /** Classes of Handler and callback, and the code; empty when no name is known. */
    String message() {
        if (target.isEmpty() && callback.isEmpty()) {
            return "";
        }
        return (target + (callback.isEmpty() ? "" : ' ' + callback) + (what.isEmpty() ? "" : ": " + what)).trim();
    }

    /**
     * The line, without its end. When it is too long, parts are left out: stacks first, and then all but
     * three samples.
     */
    public String json(int level, long unixMs, TimeZone zone, int pid, String scene, List<Vitals> vitals) {
        String line = null;
        for (int[] cut : CUTS) {
            line = json(level, unixMs, zone, pid, scene, vitals, cut[0], cut[1]);
            if (JsonLine.bytes(line).length < MOST_BYTES) {
                return line;
            }
        }
        List<Vitals> fewer = new ArrayList<Vitals>(vitals.subList(0, Math.min(1, vitals.size())));
        fewer.addAll(vitals.subList(Math.max(fewer.size(), vitals.size() - 2), vitals.size()));
        line = json(level, unixMs, zone, pid, scene, fewer, 1, 2);
        return JsonLine.bytes(line).length < MOST_BYTES
                ? line
                : json(level, unixMs, zone, pid, scene, new ArrayList<Vitals>(), 0, 0);
    }

    private String json(
            int level, long unixMs, TimeZone zone, int pid, String scene, List<Vitals> vitals, int mostStacks, int mostFrames) {
        JsonLine line = new JsonLine();
        line.number("v", 1).text("t", LocalTime.stamp(unixMs, zone));
        line.text("end", LocalTime.stamp(unixMs + wallNs / 1_000_000, zone));
        line.number("uptime_ms", startNs / 1_000_000).number("pid", pid).number("level", level);
        line.tenths("wall_ms", wallNs / 1e6).tenths("cpu_ms", ms(cpuNs)).tenths("wait_ms", ms(waitNs));
        line.text("ended", ended).text("message", message()).text("scene", cut(scene));
        line.is("frame", target.equals(FRAME_HANDLER));
        if (frames != null) {
            frames.write(line);
        }
        line.number("stack_samples", samples).name("stacks").open('[');
        for (StackLines stack : stacks.subList(0, Math.min(mostStacks, stacks.size()))) {
            List<String> frames = stack.frames.subList(0, Math.min(mostFrames, stack.frames.size()));
            line.open('{').number("n", stack.times);
            line.number("from", after(stack.firstNs)).number("to", after(stack.lastNs));
            if (frames.size() < stack.frames.size()) {
                line.number("cut", stack.frames.size() - frames.size());
            }
            line.name("frames").open('[');
            for (String frame : frames) {
                line.element(cut(frame));
            }
            line.close(']').close('}');
        }
        line.close(']').name("samples").open('[');
        for (Vitals sample : vitals) {
            sample.write(line, startNs);
        }
        return line.close(']').end();
    }

    private long after(long ns) {
        return (ns - startNs) / 1_000_000;
    }

    private static Double ms(Long ns) {
        return ns == null ? null : ns / 1e6;
    }
}
