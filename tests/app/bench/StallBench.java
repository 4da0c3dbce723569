package bench;

import android.os.Handler;
import android.os.Looper;
import android.os.Message;
import android.os.Process;
import dalvik.system.VMDebug;
import java.io.BufferedReader;
import java.io.File;
import java.io.FileReader;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;

/**
 * The cost of one message that blocks, for several ways to report it, in one process.
 *
 * Arguments: the number of blocking messages per batch, the number of rounds, how long such a message sleeps
 * in milliseconds, then the ways (all when none is named). Each round runs one batch per way, in turn. Prints
 * one line a batch, with the way and five figures per message: nanoseconds of the main thread's CPU time;
 * nanoseconds of all threads' CPU time; bytes that all threads allocated in Java; objects that they
 * allocated; reads and writes of the main thread (NaN where the kernel does not count them). The figures
 * include the work that a way does anyway, without a message that blocks.
 */
public final class StallBench {
    private static final int STALL = 1;
    private static final int LAST = 2;

    /** The index of the main thread's reads and writes in the figures of {@link #used}. */
    private static final int CALLS = 4;

    /** The pause between two stalls: long enough for the work after a stall. */
    private static final long PAUSE_MS = 300;

    /** The depth of the stack, as in an app's code. */
    private static final int DEPTH = 24;

    private StallBench() {}

    /** Ends Looper.loop(). */
    private static final class Stop extends RuntimeException {
        Stop() {
            super("end of batch", null, false, false);
        }
    }

    private static final class Batch extends Handler {
        private final int stalls;
        private final int ms;
        private int done;

        Batch(int stalls, int ms) {
            super(Looper.getMainLooper());
            this.stalls = stalls;
            this.ms = ms;
        }

        @Override public void handleMessage(Message message) {
            if (message.what == LAST) {
                throw new Stop();
            }
            deep(DEPTH, ms);
            done++;
            sendEmptyMessageDelayed(done < stalls ? STALL : LAST, PAUSE_MS);
        }

        private static void deep(int depth, int ms) {
            if (depth > 0) {
                deep(depth - 1, ms);
                return;
            }
            try {
                Thread.sleep(ms);
            } catch (InterruptedException unexpected) {
                throw new AssertionError(unexpected);
            }
        }
    }

    /**
     * What has been used so far. The last value is a place for the result of {@link #calls}, and is 0 here,
     * because this method itself reads files.
     */
    private static double[] used() throws IOException {
        return new double[] {
            VMDebug.threadCpuTimeNanos(),
            processNs(),
            VMDebug.getAllocCount(VMDebug.KIND_GLOBAL_ALLOCATED_BYTES),
            VMDebug.getAllocCount(VMDebug.KIND_GLOBAL_ALLOCATED_OBJECTS),
            0,
        };
    }

    private static double processNs() throws IOException {
        double sum = 0;
        for (File thread : new File("/proc/self/task").listFiles()) {
            String line = line(new File(thread, "schedstat"), "");
            sum += line == null ? 0 : Double.parseDouble(line.substring(0, line.indexOf(' ')));
        }
        return sum;
    }

    private static double calls() throws IOException {
        File counted = new File("/proc/self/task/" + Process.myTid() + "/io");
        String reads = line(counted, "syscr: ");
        String writes = line(counted, "syscw: ");
        return reads == null || writes == null ? Double.NaN : Double.parseDouble(reads) + Double.parseDouble(writes);
    }

    /**
     * The rest of the first line that starts with {@code start}. Null when there is no such line, or the file
     * cannot be read.
     */
    private static String line(File file, String start) throws IOException {
        if (!file.canRead()) {
            return null;
        }
        BufferedReader in = new BufferedReader(new FileReader(file));
        try {
            String line = in.readLine();
            while (line != null && !line.startsWith(start)) {
                line = in.readLine();
            }
            return line == null ? null : line.substring(start.length());
        } catch (IOException ended) {
            // The thread has.
            return null;
        } finally {
            in.close();
        }
    }

    public static void main(String[] args) throws Exception {
        int stalls = Integer.parseInt(args[0]);
        int rounds = Integer.parseInt(args[1]);
        int ms = Integer.parseInt(args[2]);
        List<String> wanted = Arrays.asList(args).subList(3, args.length);
        Looper.prepareMainLooper();
        VMDebug.startAllocCounting();
        String[] names = {"none", "recorder", "ours", "block", "uiperf", "blockcanary"};
        for (int round = -1; round < rounds; round++) { // round -1 warms up
            for (String name : names) {
                if (wanted.isEmpty() || wanted.contains(name)) {
                    one(name, round < 0 ? 1 : stalls, ms, round >= 0);
                }
            }
        }
        Runtime.getRuntime().halt(0);
    }

    private static void one(String name, int stalls, int ms, boolean counts) throws Exception {
        StallMonitors.Way way = way(name);
        if (!way.install()) {
            return;
        }
        // What follows from the installation is not to be measured.
        run(way, new Batch(1, ms), 1);
        Batch batch = new Batch(stalls, ms);
        double[] before = used();
        before[CALLS] = calls();
        run(way, batch, stalls);
        double calls = calls();
        double[] after = used();
        after[CALLS] = calls;
        way.uninstall();
        // Its threads end meanwhile: what they used is not counted any more then.
        Thread.sleep(PAUSE_MS);
        if (counts) {
            StringBuilder line = new StringBuilder("batch " + name);
            for (int at = 0; at < after.length; at++) {
                line.append(' ').append((after[at] - before[at]) / stalls);
            }
            System.out.println(line);
        }
    }

    private static void run(StallMonitors.Way way, Batch batch, int stalls) throws InterruptedException {
        batch.sendEmptyMessageDelayed(STALL, PAUSE_MS);
        try {
            Looper.loop();
            throw new IllegalStateException("the looper quit");
        } catch (Stop end) {
            way.await(stalls);
        }
    }

    private static StallMonitors.Way way(String name) {
        switch (name) {
            case "recorder":
                return new StallMonitors.Recorder();
            case "ours":
                return new StallMonitors.Ours();
            case "block":
                return new StallMonitors.Block();
            case "uiperf":
                return new StallMonitors.Uiperf();
            case "blockcanary":
                return new StallMonitors.Canary();
            default:
                return new StallMonitors.None();
        }
    }
}
