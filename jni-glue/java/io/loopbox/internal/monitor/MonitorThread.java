// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal.monitor;

import android.os.Build;
import android.os.Process;
import io.loopbox.MonitorSampler;
import io.loopbox.internal.platform.App;
import io.loopbox.internal.platform.Faults;
import io.loopbox.internal.platform.JsonLine;
import io.loopbox.internal.platform.LocalTime;
import io.loopbox.internal.platform.Platform;
import io.loopbox.internal.platform.RecorderLog;
import io.loopbox.internal.platform.Vitals;
import io.loopbox.internal.recording.Annotations;
import io.loopbox.internal.recording.Gate;
import io.loopbox.internal.recording.MonitorSettings;
import io.loopbox.internal.recording.Native;
import io.loopbox.internal.recording.Recording;
import io.loopbox.internal.recording.Settings;
import io.loopbox.internal.recording.StallSink;
import java.io.File;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.TimeZone;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;

/**
 * The thread of the performance monitor. It samples the process, writes lines and calls the listener. The
 * native side (long_messages.rs) calls {@link #receive} when there is something to do. While the main thread
 * stays idle, there is nothing to do and nothing wakes this thread.
 */
public final class MonitorThread implements Runnable {
    /** How many events may wait for a listener or a disk; further ones are lost, and counted. */
    private static final int MOST_WAITING = 64;

    /** The number of samples that are kept. */
    private static final int RING = 8;

    private static final String SAMPLE = "";
    private static final String STOP = "stop";

    /** The parts of a monitor. */
    public static final class Plan {
        final MonitorSettings settings;
        final MonitorFiles files;
        final MonitorUpload upload;
        final StallSink sink;
        final List<MonitorSampler> samplers = new CopyOnWriteArrayList<MonitorSampler>();

        public Plan(MonitorSettings settings, MonitorFiles files, MonitorUpload upload, StallSink sink) {
            this.settings = settings;
            this.files = files;
            this.upload = upload;
            this.sink = sink;
        }

        /** Adds a sampler, which is used from the next sample on. */
        public void add(MonitorSampler sampler) {
            if (sampler != null) {
                samplers.add(sampler);
            }
        }
    }

    /** The running thread. Changed with the class's lock held. */
    private static volatile MonitorThread running;

    private final Plan plan;
    private final Gate gate = Recording.gate();
    private final LinkedBlockingQueue<String> waiting = new LinkedBlockingQueue<String>(MOST_WAITING);
    private volatile boolean stops;

    private final ArrayDeque<Vitals> ring = new ArrayDeque<Vitals>();

    /** The last sample before the message that blocks. */
    private Vitals before;

    private long beforeOf;
    private Vitals last;

    private MonitorThread(Plan plan) {
        this.plan = plan;
    }

    /**
     * Starts the thread, unless it runs already with this plan.
     *
     * @return null, or why it does not run
     */
    public static synchronized String start(Plan plan) {
        if (isRunning(plan)) {
            return null;
        }
        Settings recorder = Recording.settings();
        if (recorder == null) {
            return "the recorder is not installed";
        }
        if (running != null && isRunning(running.plan)) {
            return "another monitor runs";
        }
        if (!recorder.isHooked()) {
            return "without a hook no message is known";
        }
        if (recorder.detailMs > plan.settings.levelsMs[0]) {
            return "detailMs " + recorder.detailMs + " of the recorder is more than the lowest level";
        }
        MonitorThread next = new MonitorThread(plan);
        Thread thread = new Thread(next, "loopbox-monitor");
        thread.setDaemon(true);
        thread.start();
        running = next;
        MonitorSettings wanted = plan.settings;
        Native.setMonitor(wanted.levelsMs[0], wanted.blockMs, wanted.sampleMs);
        return null;
    }

    public static synchronized void stop(Plan plan) {
        if (running != null && running.plan == plan) {
            end();
        }
    }

    /** Ends the thread, because the recorder or only the monitor stops. */
    public static synchronized void end() {
        MonitorThread monitor = running;
        running = null;
        if (monitor != null) {
            if (Recording.isOn()) {
                Native.setMonitor(0, 0, 0);
            }
            monitor.stops = true;
            monitor.waiting.offer(STOP);
        }
    }

    public static boolean isRunning(Plan plan) {
        MonitorThread monitor = running;
        return monitor != null && monitor.plan == plan && Recording.isOn();
    }

    /**
     * Takes an event from the native side; {@code message} is null when a sample is due. On the recorder's
     * worker.
     */
    public static void receive(String message) {
        MonitorThread monitor = running;
        if (monitor != null && !monitor.waiting.offer(message == null ? SAMPLE : message)) {
            monitor.plan.files.lose();
        }
    }

    @Override
    public void run() {
        try {
            Process.setThreadPriority(Process.THREAD_PRIORITY_BACKGROUND);
            one(SAMPLE);
            // What came before the stop is still done, but not when the recording has ended.
            for (String notice = next(); !notice.equals(STOP) && !gate.isClosed(); notice = next()) {
                one(notice);
            }
        } catch (Throwable unexpected) {
            // A thread that throws ends the app.
            Faults.log(unexpected);
        }
    }

    /**
     * Takes the next event, or returns STOP when the thread is to end and no event waits. STOP may be missing
     * in the queue, if the queue was full when the thread was asked to end.
     */
    private String next() {
        while (!stops || !waiting.isEmpty()) {
            try {
                return waiting.take();
            } catch (InterruptedException ignored) {
                // By code of the app.
            }
        }
        return STOP;
    }

    private void one(String notice) {
        try {
            if (notice.equals(SAMPLE)) {
                sample();
                plan.upload.retryWhenDue();
            } else if (notice.charAt(0) == 'B') {
                block(notice);
            } else {
                stall(new StallLine(notice));
            }
        } catch (Throwable fault) {
            Faults.log(fault);
        }
    }

    private Vitals sample() {
        last = new Vitals(last, plan.samplers);
        if (ring.size() == RING) {
            ring.removeFirst();
        }
        ring.addLast(last);
        return last;
    }

    private void block(String notice) {
        String[] lines = notice.split("\n");
        String[] fields = lines[0].split("\t");
        long startNs = Long.parseLong(fields[2]);
        StackLines stack = new StackLines();
        for (int at = 1; at < lines.length; at++) {
            stack.add(lines[at]);
        }
        beforeOf = Long.parseLong(fields[1]);
        before = newestBefore(startNs);
        sample();
        long ageMs = (Long.parseLong(fields[3]) - startNs) / 1_000_000;
        if (plan.settings.log) {
            RecorderLog.warn("the main thread has been in one message for " + ageMs + " ms:\n" + stack.text());
        }
        if (!gate.isClosed()) {
            plan.sink.onBlock(ageMs, stack.text());
        }
    }

    private Vitals newestBefore(long ns) {
        Vitals found = null;
        for (Vitals sample : ring) {
            found = sample.atNs < ns ? sample : found;
        }
        return found;
    }

    private void stall(StallLine line) {
        MonitorSettings settings = plan.settings;
        int level = settings.level(line.wallNs);
        if (level == 0) {
            return;
        }
        Vitals first = beforeOf == line.token ? before : newestBefore(line.startNs);
        sample();
        List<Vitals> vitals = new ArrayList<Vitals>();
        if (first != null) {
            vitals.add(first);
        }
        for (Vitals sample : ring) {
            if (sample.atNs >= line.startNs) {
                vitals.add(sample);
            }
        }
        TimeZone zone = TimeZone.getDefault();
        long ageMs = (System.nanoTime() - line.startNs) / 1_000_000;
        long unixMs = System.currentTimeMillis() - ageMs;
        String scene = Annotations.get("scene");
        String json = line.json(level, unixMs, zone, Process.myPid(), scene, vitals);
        if (settings.files && gate.enter()) {
            try {
                plan.files.append(LocalTime.day(unixMs, zone), json, new ProcessBase(settings, unixMs, zone));
            } finally {
                gate.leave();
            }
        }
        String stack = line.stacks.isEmpty() ? "" : line.stacks.get(0).text();
        if (gate.isClosed()) {
            return;
        }
        plan.sink.onStall(
                level, line.wallNs / 1e6, line.startNs / 1_000_000, unixMs, line.message(), scene, stack, json);
    }

    /** The line about the process that comes before its first stall in a file. */
    private static final class ProcessBase implements MonitorFiles.Base {
        /**
         * When this class was loaded, in milliseconds of the wall clock. Each line of the process has this
         * value. Two lines with the same value and the same pid are of one process.
         */
        private static final long STARTED_MS = System.currentTimeMillis();

        private final MonitorSettings settings;
        private final long unixMs;
        private final TimeZone zone;

        ProcessBase(MonitorSettings settings, long unixMs, TimeZone zone) {
            this.settings = settings;
            this.unixMs = unixMs;
            this.zone = zone;
        }

        @Override
        public String line(long lost) {
            JsonLine line = new JsonLine();
            line.number("v", 1).text("t", LocalTime.stamp(unixMs, zone)).number("pid", Process.myPid());
            line.number("lost", lost).name("base").open('{');
            line.text("os", Platform.field(Build.VERSION.class, "RELEASE")).number("api", Build.VERSION.SDK_INT);
            line.text("device", Platform.device()).text("process", App.processName());
            line.text("app", Recording.place().appVersion).text("user", Annotations.get("user"));
            line.number("started_ms", STARTED_MS);
            line.number("cores", Runtime.getRuntime().availableProcessors());
            Long kilohertz = Platform.maxKilohertz();
            if (kilohertz != null) {
                line.number("cpu_max_mhz", kilohertz / 1_000);
            }
            File data = Recording.place().directory;
            line.number("disk_mb", data.getTotalSpace() >> 20).number("disk_free_mb", data.getUsableSpace() >> 20);
            Long memory = Vitals.megabytes(Vitals.number("/proc/meminfo", "MemTotal:"));
            if (memory != null) {
                line.number("mem_mb", memory);
            }
            why(line, "sys_cpu", Vitals.whyNot(false));
            why(line, "psi", Vitals.whyNot(true));
            line.name("levels_ms").open('[');
            for (long limit : settings.levelsMs) {
                line.element(limit);
            }
            return line.close(']').close('}').end();
        }

        private static void why(JsonLine line, String name, String why) {
            if (why != null) {
                line.text(name, null).text(name + "_why", why);
            }
        }
    }
}
