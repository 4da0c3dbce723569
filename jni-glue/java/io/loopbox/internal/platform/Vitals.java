// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal.platform;

import android.system.ErrnoException;
import android.system.OsConstants;
import io.loopbox.MonitorSampler;
import java.io.FileInputStream;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.StringTokenizer;

/**
 * What the process and the machine do at one moment, from /proc. Shares of a processor are relative to the
 * previous sample.
 */
public final class Vitals {
    /** USER_HZ, in which the kernel reports times to processes: 100 on every architecture of Android. */
    private static final long TICKS_PER_S = 100;

    private static final int MOST_VALUES = 8;

    /**
     * How many bytes of a file are read. The machine's memory is at the start of its file, and a process's
     * status is shorter than this.
     */
    private static final int MOST_BYTES = 2_048;

    private static final String STAT = "/proc/self/stat";
    private static final String STATUS = "/proc/self/status";
    private static final String MACHINE = "/proc/stat";
    private static final String MEMORY = "/proc/meminfo";
    private static final String PRESSURE = "/proc/pressure/";
    private static final String[] PRESSURES = {"cpu", "memory", "io"};

    public final long atNs;
    private final long processTicks;
    private final long busyTicks;
    private final long allTicks;
    private final Double processCpu;
    private final Double systemCpu;
    private final Long threads;
    private final Long residentMb;
    private final Long freeMb;
    private final long heapMb;
    private final Double[] pressure = new Double[PRESSURES.length];
    private final Map<String, Long> more = new LinkedHashMap<String, Long>();

    /**
     * Takes a sample, and asks each of {@code samplers} for its values.
     *
     * @param before the previous sample; null for none
     */
    public Vitals(Vitals before, List<MonitorSampler> samplers) {
        atNs = System.nanoTime();
        processTicks = processTicks(line(STAT));
        long[] machine = machineTicks(line(MACHINE));
        busyTicks = machine[0];
        allTicks = machine[1];
        boolean known = before != null && before.processTicks >= 0 && processTicks >= before.processTicks;
        double seconds = before == null ? 0 : (atNs - before.atNs) / 1e9;
        processCpu = known && seconds > 0 ? 100.0 * (processTicks - before.processTicks) / TICKS_PER_S / seconds : null;
        boolean grew = before != null && before.allTicks >= 0 && allTicks > before.allTicks;
        systemCpu = grew ? 100.0 * (busyTicks - before.busyTicks) / (allTicks - before.allTicks) : null;
        String status = textOrEmpty(STATUS);
        threads = numberIn(status, "Threads:");
        residentMb = megabytes(numberIn(status, "VmRSS:"));
        freeMb = megabytes(number(MEMORY, "MemAvailable:"));
        Runtime runtime = Runtime.getRuntime();
        heapMb = runtime.totalMemory() - runtime.freeMemory() >> 20;
        for (int at = 0; at < PRESSURES.length; at++) {
            pressure[at] = average(line(PRESSURE + PRESSURES[at]));
        }
        for (MonitorSampler sampler : samplers) {
            ask(sampler, samplers);
        }
    }

    private void ask(MonitorSampler sampler, List<MonitorSampler> samplers) {
        try {
            Map<String, Long> values = new LinkedHashMap<String, Long>();
            sampler.sample(values);
            int left = MOST_VALUES;
            for (Map.Entry<String, Long> value : values.entrySet()) {
                if (left-- > 0 && value.getValue() != null) {
                    more.put(brief(sampler.name()) + '.' + brief(value.getKey()), value.getValue());
                }
            }
        } catch (Throwable fault) {
            Faults.log(fault);
            samplers.remove(sampler);
        }
    }

    private static String brief(String name) {
        String text = String.valueOf(name);
        return text.length() <= 24 ? text : text.substring(0, 24);
    }

    /** Writes this sample as an object of a list, with its time after the stall's start. */
    public void write(JsonLine line, long startNs) {
        line.open('{').number("at", Math.round((atNs - startNs) / 1e6));
        line.tenths("proc_cpu", processCpu);
        if (systemCpu != null) {
            line.tenths("sys_cpu", systemCpu);
        }
        number(line, "threads", threads);
        number(line, "rss_mb", residentMb);
        line.number("heap_mb", heapMb);
        number(line, "free_mb", freeMb);
        for (int at = 0; at < PRESSURES.length; at++) {
            if (pressure[at] != null) {
                line.tenths("psi_" + PRESSURES[at], pressure[at]);
            }
        }
        if (!more.isEmpty()) {
            line.name("x").open('{');
            for (Map.Entry<String, Long> value : more.entrySet()) {
                line.number(value.getKey(), value.getValue());
            }
            line.close('}');
        }
        line.close('}');
    }

    private static void number(JsonLine line, String name, Long value) {
        if (value != null) {
            line.number(name, value);
        }
    }

    /**
     * With {@code ofPressure}, why the pressure of the machine is not known; without it, why the use of its
     * processors is not known. Null when it is known. Apps may read neither since Android 8.
     */
    public static String whyNot(boolean ofPressure) {
        try {
            String line = first(ofPressure ? PRESSURE + PRESSURES[0] : MACHINE);
            boolean understood = ofPressure ? average(line) != null : machineTicks(line)[1] >= 0;
            return understood ? null : "not understood";
        } catch (IOException refused) {
            Throwable cause = refused.getCause();
            return cause instanceof ErrnoException
                    ? OsConstants.errnoName(((ErrnoException) cause).errno)
                    : String.valueOf(refused.getMessage());
        }
    }

    /**
     * The ticks of all processors: first the ticks in which they were neither idle nor waiting for a disk,
     * then all ticks. Both are -1 when unknown.
     */
    static long[] machineTicks(String line) {
        StringTokenizer parts = new StringTokenizer(line == null ? "" : line, " ");
        if (parts.countTokens() < 6 || !parts.nextToken().equals("cpu")) {
            return new long[] {-1, -1};
        }
        long all = 0;
        long idle = 0;
        // user, nice, system, idle, iowait, irq, softirq, steal; what follows is part of user.
        for (int at = 0; at < 8 && parts.hasMoreTokens(); at++) {
            Long ticks = parse(parts.nextToken());
            if (ticks == null) {
                return new long[] {-1, -1};
            }
            all += ticks;
            idle += at == 3 || at == 4 ? ticks : 0;
        }
        return new long[] {all - idle, all};
    }

    /** The sum of utime and stime of a process, in ticks; -1 when unknown. */
    static long processTicks(String line) {
        // The name in brackets may have anything in it.
        int name = line == null ? -1 : line.lastIndexOf(')');
        String[] parts = name < 0 ? new String[0] : line.substring(name + 1).trim().split(" ");
        Long user = parts.length < 13 ? null : parse(parts[11]);
        Long system = user == null ? null : parse(parts[12]);
        return system == null ? -1 : user + system;
    }

    /**
     * The percentage of the last ten seconds in which tasks waited: {@code avg10} of a pressure file's line;
     * null when unknown.
     */
    static Double average(String line) {
        int at = line == null ? -1 : line.indexOf("avg10=");
        if (at < 0) {
            return null;
        }
        int end = line.indexOf(' ', at);
        try {
            return Double.valueOf(line.substring(at + 6, end < 0 ? line.length() : end));
        } catch (NumberFormatException none) {
            return null;
        }
    }

    /** Null where this is no number. */
    private static Long parse(String number) {
        try {
            return Long.valueOf(number);
        } catch (NumberFormatException none) {
            return null;
        }
    }

    public static Long megabytes(Long kilobytes) {
        return kilobytes == null ? null : kilobytes >> 10;
    }

    /** The number that follows this word at the start of a line of the file; null when unknown. */
    public static Long number(String file, String word) {
        return numberIn(textOrEmpty(file), word);
    }

    private static Long numberIn(String text, String word) {
        int at = text.startsWith(word) ? 0 : text.indexOf('\n' + word) + 1;
        if (at == 0 && !text.startsWith(word)) {
            return null;
        }
        int end = text.indexOf('\n', at);
        String value = text.substring(at + word.length(), end < 0 ? text.length() : end).trim();
        return parse(value.split(" ")[0]);
    }

    private static String line(String file) {
        try {
            return first(file);
        } catch (IOException unknown) {
            return null;
        }
    }

    /** The first line of the file; null for an empty file. */
    private static String first(String file) throws IOException {
        String text = text(file);
        int end = text.indexOf('\n');
        return text.isEmpty() ? null : end < 0 ? text : text.substring(0, end);
    }

    private static String textOrEmpty(String file) {
        try {
            return text(file);
        } catch (IOException unknown) {
            return "";
        }
    }

    /**
     * Reads the part of a file that the kernel returns in one read; more is not needed. A Reader would take
     * several times the memory.
     */
    private static String text(String file) throws IOException {
        FileInputStream in = new FileInputStream(file);
        try {
            byte[] bytes = new byte[MOST_BYTES];
            int length = in.read(bytes);
            return length <= 0 ? "" : new String(bytes, 0, length, "ISO-8859-1");
        } finally {
            in.close();
        }
    }
}
