package scenario;

import android.os.Handler;
import android.os.Looper;
import android.os.SystemClock;
import io.loopbox.DumpCallback;
import io.loopbox.FirstFileListener;
import io.loopbox.Listener;
import io.loopbox.Loopbox;
import io.loopbox.Monitor;
import io.loopbox.MonitorConfig;
import io.loopbox.MonitorListener;
import io.loopbox.Report;
import io.loopbox.Stall;
import java.io.File;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;

/**
 * Recording is stopped at the wrong moment. After that no listener may be called and nothing may be written:
 * a listener prints a line when it is called, and the files before and after are compared. Arguments: those
 * of {@link Options} and {@link Phone}; {@code how=} uninstall, disabled, pause; {@code mode=} says when:
 *
 * <ul>
 *   <li>hang: in a hang, which continues beyond its threshold until the file {@code gate=} is there;
 *   <li>listener: in the call of a listener for the first file, by the listener itself;
 *   <li>queued: while a listener is busy, and further reports and callbacks wait;
 *   <li>monitor: while the monitor's listener is busy and further messages wait for it;
 *   <li>often: again and again, on the main thread and another, while reports are being written.
 * </ul>
 */
public final class Stopping implements Runnable {
    private static final CountDownLatch BUSY = new CountDownLatch(1);
    private static final CountDownLatch CALLED = new CountDownLatch(1);
    private static final CountDownLatch GO_ON = new CountDownLatch(1);

    private final Options options;
    private final File directory;
    private final Phone phone;
    /** Whether the call that stops the recording has returned. */
    private volatile boolean stopped;

    private final Handler handler = new Handler(Looper.getMainLooper());

    private Stopping(Options options) {
        this.options = options;
        directory = new File(options.text("dir", "."));
        phone = new Phone(options);
    }

    /** Runs one scenario and ends the process. */
    public static void main(String[] arguments) {
        Looper.prepareMainLooper();
        Stopping scenario = new Stopping(new Options(arguments));
        scenario.install();
        new Thread(scenario, "scenario").start();
        Looper.loop();
    }

    private void install() {
        int hangMs = options.number("hangMs", 2_000);
        if (!Loopbox.install(phone, options.config().hangMs(hangMs).listener(null).listener(listener()).build()).isOn()) {
            throw new AssertionError("not installed");
        }
    }

    private Listener listener() {
        final String mode = options.text("mode", "");
        return new FirstFileListener() {
            @Override
            public void onFirstFile(Report report) {
                if (mode.equals("listener")) {
                    say("first", report);
                    stop();
                }
            }

            @Override
            public void onReport(Report report) {
                // Before the file is read, which takes time.
                boolean late = stopped;
                say(late ? "late report" : "report", report);
                CALLED.countDown();
                if (mode.equals("queued")) {
                    block();
                }
            }
        };
    }

    private static void say(String what, Report report) {
        Script.say(what + " " + (report.getLabel().isEmpty() ? report.getReason() : report.getLabel()));
    }

    private static void block() {
        BUSY.countDown();
        try {
            GO_ON.await();
        } catch (InterruptedException unexpected) {
            throw new AssertionError(unexpected);
        }
    }

    private void stop() {
        String how = options.text("how", "uninstall");
        if (how.equals("disabled")) {
            Loopbox.setEnabled(phone, false);
        } else if (how.equals("pause")) {
            Loopbox.pause();
        } else {
            Loopbox.uninstall();
        }
        Script.say("stopped");
    }

    @Override
    public void run() {
        try {
            String mode = options.text("mode", "hang");
            if (mode.equals("hang")) {
                hang();
            } else if (mode.equals("listener")) {
                Loopbox.dumpAsync("of the listener", null);
                nothingFollows(3_000);
            } else if (mode.equals("queued")) {
                queued();
            } else if (mode.equals("monitor")) {
                monitor();
            } else {
                often();
            }
            Script.say("done");
            Runtime.getRuntime().halt(0);
        } catch (Throwable fault) {
            fault.printStackTrace();
            Runtime.getRuntime().halt(1);
        }
    }

    private void hang() throws Exception {
        Script.awaitSampler();
        final CountDownLatch begun = new CountDownLatch(1);
        final CountDownLatch ended = new CountDownLatch(1);
        handler.post(
                new Runnable() {
                    @Override
                    public void run() {
                        begun.countDown();
                        File gate = new File(options.text("gate", ""));
                        while (!gate.exists()) {
                            SystemClock.sleep(5);
                        }
                        ended.countDown();
                    }
                });
        begun.await();
        SystemClock.sleep(500);
        stop();
        // Twice as long as the hang's threshold.
        nothingFollows(4_000);
        Script.say("hangs");
        ended.await();
        if (options.is("how", "uninstall")) {
            // What was put off is undone before it begins anew, and does not end that.
            onMain(
                    new Runnable() {
                        @Override
                        public void run() {
                            install();
                        }
                    });
            onMain(null);
            Script.say("again " + Loopbox.status().isOn());
            Script.say("dumped " + (Loopbox.dump("again") != null));
            CALLED.await();
        }
    }

    private void onMain(final Runnable what) throws InterruptedException {
        final CountDownLatch done = new CountDownLatch(1);
        handler.post(
                new Runnable() {
                    @Override
                    public void run() {
                        if (what != null) {
                            what.run();
                        }
                        done.countDown();
                    }
                });
        done.await();
    }

    private void queued() throws Exception {
        Loopbox.dumpAsync(
                "first",
                new DumpCallback() {
                    @Override
                    public void onDumped(Report report) {
                        // As the listener is, and those that follow wait for it.
                        block();
                    }
                });
        BUSY.await();
        for (final String name : new String[] {"second", "third"}) {
            Loopbox.dumpAsync(
                    name,
                    new DumpCallback() {
                        @Override
                        public void onDumped(Report report) {
                            Script.say("answer " + name + (report == null ? " nothing" : " a report"));
                        }
                    });
        }
        while (reports() < 3) {
            SystemClock.sleep(5);
        }
        // The last one may be about to be called.
        SystemClock.sleep(300);
        stop();
        GO_ON.countDown();
        nothingFollows(1_000);
    }

    private int reports() {
        int reports = 0;
        for (String name : directory.list()) {
            reports += name.endsWith(".lbx") ? 1 : 0;
        }
        return reports;
    }

    private void monitor() throws Exception {
        Script.awaitSampler();
        MonitorConfig.Builder config = new MonitorConfig.Builder();
        config.listener(null).listener(
                new MonitorListener() {
                    @Override
                    public void onBlock(long ageMs, String stack) {}

                    @Override
                    public void onStall(Stall stall) {
                        Script.say("stall");
                        block();
                    }
                });
        Monitor monitor = Loopbox.monitor(config.build());
        Script.say("started " + monitor.start());
        for (int turn = 0; turn < 3; turn++) {
            handler.post(
                    new Runnable() {
                        @Override
                        public void run() {
                            SystemClock.sleep(500);
                        }
                    });
        }
        BUSY.await();
        onMain(null);
        // So that all three wait for the monitor.
        SystemClock.sleep(1_000);
        stop();
        GO_ON.countDown();
        nothingFollows(1_500);
    }

    private void often() throws Exception {
        Random random = new Random(7);
        for (int round = 0; round < options.number("rounds", 40); round++) {
            for (int dumps = 0; dumps < 3; dumps++) {
                Loopbox.dumpAsync("round " + round, null);
            }
            long pauseNs = random.nextInt(8_000_000);
            long end = System.nanoTime() + pauseNs;
            while (System.nanoTime() < end) {
                Thread.yield();
            }
            Runnable stops =
                    new Runnable() {
                        @Override
                        public void run() {
                            Loopbox.uninstall();
                            stopped = true;
                            Script.say("stopped");
                        }
                    };
            if (round % 2 == 0) {
                stops.run();
            } else {
                onMain(stops);
            }
            nothingFollows(60);
            Script.say("next");
            stopped = false;
            onMain(
                    new Runnable() {
                        @Override
                        public void run() {
                            install();
                        }
                    });
        }
    }

    /**
     * The files of reports and of the monitor below the folder, by path, with time and length. Files that are
     * still being deleted are left out.
     */
    private TreeMap<String, String> files() {
        TreeMap<String, String> files = new TreeMap<String, String>();
        collect(directory, files);
        return files;
    }

    private static void collect(File folder, TreeMap<String, String> into) {
        File[] all = folder.listFiles();
        for (File file : all == null ? new File[0] : all) {
            String name = file.getName();
            if (file.isDirectory()) {
                collect(file, into);
            } else if (name.endsWith(".lbx") || name.endsWith(".jsonl") || name.endsWith(".gz")) {
                into.put(file.getPath(), file.lastModified() + " " + file.length());
            }
        }
    }

    private void nothingFollows(long ms) {
        TreeMap<String, String> before = files();
        SystemClock.sleep(ms);
        TreeMap<String, String> after = files();
        if (options.is("mode", "listener")) {
            // It stops by itself, some time after the question.
            before = after;
            SystemClock.sleep(ms);
            after = files();
        }
        Script.say(before.equals(after) ? "unchanged" : "changed from " + before + " to " + after);
    }
}
