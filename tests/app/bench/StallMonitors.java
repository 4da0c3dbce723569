package bench;

import android.os.Handler;
import android.os.HandlerThread;
import android.os.Looper;
import io.loopbox.Config;
import io.loopbox.Loopbox;
import io.loopbox.Monitor;
import io.loopbox.MonitorConfig;
import io.loopbox.MonitorListener;
import io.loopbox.Stall;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.File;
import java.io.FileOutputStream;
import java.io.FileReader;
import java.io.IOException;
import java.io.OutputStreamWriter;
import java.io.RandomAccessFile;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Semaphore;

/**
 * The ways to report a message that blocks, with the files and log lines that they write: those of {@link
 * BlockMonitors}, and Loopbox's monitor. {@link StallBench} compares them. The ways of {@link BlockMonitors}
 * write times as numbers. The original code uses SimpleDateFormat, which needs ICU; the testbeds do not have
 * ICU.
 */
final class StallMonitors {
    private static final long DAY_MS = 86_400_000;
    private static final String STARS = "/**************************************/\r\n";

    private StallMonitors() {}

    /** A way whose work for a blocked message may go on for some time after that message has ended. */
    interface Way extends HookBench.Variant {
        /** Waits until the work for {@code stalls} blocked messages is finished. */
        void await(int stalls) throws InterruptedException;
    }

    /** The way without any watcher. */
    static final class None implements Way {
        @Override public boolean install() {
            return true;
        }

        @Override public void uninstall() {}

        @Override public void await(int stalls) {}
    }

    /** Loopbox without the monitor: it takes stacks for its reports. */
    static final class Recorder implements Way {
        @Override public boolean install() {
            return record();
        }

        @Override public void uninstall() {
            Loopbox.uninstall();
        }

        @Override public void await(int stalls) {}
    }

    private static boolean record() {
        Config config = new Config.Builder(folder("ours")).hook(Config.Hook.OBSERVER).build();
        boolean on = Loopbox.install(config).isOn();
        if (on) {
            scenario.Script.awaitSampler();
        }
        return on;
    }

    /** Loopbox with its performance monitor, as it is by default: file and log. */
    static final class Ours implements Way, MonitorListener {
        private final Semaphore finished = new Semaphore(0);
        private Monitor monitor;

        @Override public boolean install() {
            if (!record()) {
                return false;
            }
            monitor = Loopbox.monitor(new MonitorConfig.Builder().listener(this).build());
            return monitor.start();
        }

        @Override public void uninstall() {
            monitor.stop();
            Loopbox.uninstall();
        }

        @Override public void onBlock(long ageMs, String stack) {}

        @Override public void onStall(Stall stall) {
            if (stall.getMessage().contains("StallBench")) {
                finished.release();
            }
        }

        @Override public void await(int stalls) throws InterruptedException {
            finished.acquire(stalls);
        }
    }

    /**
     * The block monitor of the huansky article (see docs/glossary.md). It logs one stack of a message that
     * blocks.
     */
    static final class Block extends BlockMonitors.Block implements Way {
        private final Semaphore finished = new Semaphore(0);

        @Override public void run() {
            super.run();
            finished.release();
        }

        @Override public void await(int stalls) throws InterruptedException {
            finished.acquire(stalls);
        }
    }

    /** A thread that writes files. The ways of uiperf and of BlockCanary have one each. */
    private static final class Writer {
        private final HandlerThread thread = new HandlerThread("writer");
        final Semaphore finished = new Semaphore(0);
        private final Handler handler;

        Writer() {
            thread.start();
            handler = new Handler(thread.getLooper());
        }

        void post(final Runnable work) {
            handler.post(
                    new Runnable() {
                        @Override public void run() {
                            work.run();
                            finished.release();
                        }
                    });
        }

        void end() throws InterruptedException {
            thread.quit();
            thread.join();
        }
    }

    /**
     * The way of the uiperf article: appends the Printer's line and the time to the file of the day, and
     * samples the CPU times each half second from the first message on. The article's monitor saves level 1
     * only; here both levels are saved. It takes no stack.
     */
    static final class Uiperf extends BlockMonitors.Uiperf implements Way {
        private Writer writer;

        @Override public boolean install() {
            writer = new Writer();
            return super.install();
        }

        @Override public void uninstall() throws Exception {
            super.uninstall();
            writer.end();
        }

        @Override BlockMonitors.PostedSampler sampler(Handler handler, long delayMs) {
            return new CpuSampler(handler, delayMs);
        }

        @Override void ended(final String line, int level) {
            if (level > 0) {
                writer.post(
                        new Runnable() {
                            @Override public void run() {
                                save(line);
                            }
                        });
            }
        }

        private void save(String line) {
            long now = System.currentTimeMillis();
            File file = new File(folder("uiperf"), now / DAY_MS + ".txt");
            String text = STARS + now + "\r\n" + STARS + line + "\r\n";
            try {
                if (file.exists()) {
                    RandomAccessFile end = new RandomAccessFile(file, "rw");
                    end.seek(end.length());
                    end.writeBytes(text);
                    end.close();
                } else {
                    write(file, text);
                }
            } catch (IOException fault) {
                throw new AssertionError(fault);
            }
        }

        @Override public void await(int stalls) throws InterruptedException {
            writer.finished.acquire(stalls);
        }
    }

    /** Reads the CPU times of the machine and of the process, and keeps the differences. */
    private static final class CpuSampler extends BlockMonitors.PostedSampler {
        private long lastIdle;
        private long lastAll;
        private long lastOwn;
        final Map<Long, String> shares = new LinkedHashMap<Long, String>();

        CpuSampler(Handler handler, long delayMs) {
            super(handler, delayMs);
        }

        @Override void sample() {
            try {
                // Two blanks stand behind its name.
                String[] machine = firstLine("/proc/stat").replace("  ", " ").split(" ");
                String[] process = firstLine("/proc/self/stat").split(" ");
                long all = 0;
                for (int at = 1; at < 8; at++) {
                    all += Long.parseLong(machine[at]);
                }
                long idle = Long.parseLong(machine[4]);
                long own = 0;
                for (int at = 13; at < 17; at++) {
                    own += Long.parseLong(process[at]);
                }
                if (lastAll != 0 && all > lastAll) {
                    long passed = all - lastAll;
                    String share = "cpu:" + (passed - idle + lastIdle) * 100 / passed + "% app:" + (own - lastOwn) * 100 / passed + "% ";
                    put(shares, 10, share);
                }
                lastAll = all;
                lastIdle = idle;
                lastOwn = own;
            } catch (IOException closed) {
                // As on a phone since Android 8.
                return;
            }
        }

        private static String firstLine(String file) throws IOException {
            BufferedReader in = new BufferedReader(new FileReader(file), 1_000);
            String line = in.readLine();
            in.close();
            return line;
        }
    }

    /** Adds an entry, with the wall clock's time as its key, and keeps the newest {@code most} entries. */
    private static void put(Map<Long, String> map, int most, String value) {
        synchronized (map) {
            if (map.size() == most) {
                map.remove(map.keySet().iterator().next());
            }
            map.put(System.currentTimeMillis(), value);
        }
    }

    /**
     * BlockCanary's way: takes a stack as text at each interval from four fifths of the limit on, and writes
     * a file for each message above the limit.
     */
    static final class Canary extends BlockMonitors.Canary implements Way {
        private final Map<Long, String> seen = new LinkedHashMap<Long, String>();
        private Writer writer;

        @Override long blockMs() {
            return 200;
        }

        @Override public boolean install() {
            writer = new Writer();
            return super.install();
        }

        @Override public void uninstall() throws Exception {
            super.uninstall();
            writer.end();
        }

        @Override BlockMonitors.PostedSampler stacks(Handler handler, long delayMs) {
            return new BlockMonitors.PostedSampler(handler, delayMs) {
                @Override void sample() {
                    StringBuilder text = new StringBuilder();
                    for (StackTraceElement frame : Looper.getMainLooper().getThread().getStackTrace()) {
                        text.append(frame.toString()).append("\r\n");
                    }
                    put(seen, 100, text.toString());
                }
            };
        }

        @Override BlockMonitors.PostedSampler cpu(Handler handler, long delayMs) {
            return new CpuSampler(handler, delayMs);
        }

        @Override void blocked(final long startMs, final long endMs, final long cpuMs) {
            writer.post(
                    new Runnable() {
                        @Override public void run() {
                            save(startMs, endMs, cpuMs);
                        }
                    });
        }

        private void save(long startMs, long endMs, long cpuMs) {
            StringBuilder text = new StringBuilder(STARS);
            text.append("time = ").append(endMs - startMs).append("\r\nthread-time = ").append(cpuMs);
            text.append("\r\ntime-start = ").append(startMs).append("\r\ntime-end = ").append(endMs);
            Map<Long, String> shares = ((CpuSampler) cpu).shares;
            synchronized (shares) {
                for (Map.Entry<Long, String> share : shares.entrySet()) {
                    text.append("\r\n").append(share.getKey()).append(' ').append(share.getValue());
                }
            }
            synchronized (seen) {
                for (Map.Entry<Long, String> stack : seen.entrySet()) {
                    if (startMs < stack.getKey() && stack.getKey() < endMs) {
                        text.append("\r\n").append(stack.getKey()).append("\r\n\r\n").append(stack.getValue());
                    }
                }
            }
            try {
                write(new File(folder("canary"), "looper-" + endMs + ".log"), text.toString());
            } catch (IOException fault) {
                throw new AssertionError(fault);
            }
        }

        @Override public void await(int stalls) throws InterruptedException {
            writer.finished.acquire(stalls);
        }
    }

    private static void write(File file, String text) throws IOException {
        BufferedWriter out = new BufferedWriter(new OutputStreamWriter(new FileOutputStream(file, true), "UTF-8"));
        out.write(text);
        out.close();
    }

    private static File folder(String name) {
        File folder = new File(System.getProperty("loopbox.dir"), name);
        folder.mkdirs();
        return folder;
    }
}
