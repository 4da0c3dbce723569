package scenario;

import android.os.Handler;
import android.os.Looper;
import android.os.SystemClock;
import io.loopbox.DumpCallback;
import io.loopbox.FirstFileListener;
import io.loopbox.Loopbox;
import io.loopbox.Monitor;
import io.loopbox.MonitorConfig;
import io.loopbox.Report;
import io.loopbox.Status;
import java.io.File;
import java.io.RandomAccessFile;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/**
 * The process has no memory, or no file descriptor, left while the main thread hangs.
 *
 * <p>Arguments, in addition to those of {@link Options} and {@link Phone}:
 *
 * <ul>
 *   <li>{@code recorder=off}: the recorder is not installed, to compare;
 *   <li>{@code whose=}: the threads that get no memory. 0: none, 1: all, 2: the recorder's;
 *   <li>{@code from=}: when the memory is used up, in ms after the start of the hang;
 *   <li>{@code lacksMs=}: for how many ms there is no memory;
 *   <li>{@code hang=}: how many ms main hangs;
 *   <li>{@code files=used}: no descriptor is left when the hang begins. The hang lasts until the file {@code
 *   gate=} is there;
 *   <li>{@code heap=full}: every method is called while Java's heap is full.
 * </ul>
 */
public final class Exhausted implements Runnable {
    private final Options options;
    private final List<RandomAccessFile> files = new ArrayList<RandomAccessFile>();

    private Exhausted(Options options) {
        this.options = options;
    }

    static native void exhaust(int whose, long ms);

    static native long refused();

    /** Runs the scenario and ends the process. */
    public static void main(String[] arguments) {
        Looper.prepareMainLooper();
        Options options = new Options(arguments);
        Exhausted scenario = new Exhausted(options);
        if (!options.is("recorder", "off")) {
            if (!Loopbox.install(
                            new Phone(options),
                            options.config().hangMs(options.number("hangMs", 1_000)).listener(null).listener(new Listening()).build())
                    .isOn()) {
                throw new AssertionError("not installed");
            }
            Script.awaitSampler();
        }
        // What the scenario needs is loaded before.
        refused();
        SystemClock.sleep(1);
        new Thread(scenario, "scenario").start();
        Looper.loop();
    }

    private static final class Listening implements FirstFileListener {
        @Override
        public void onFirstFile(Report report) {
            Script.say("first " + report.getReason());
        }

        @Override
        public void onReport(Report report) {
            Script.say("report " + report.getFile().getPath() + " " + report.getReason());
        }
    }

    @Override
    public void run() {
        if (options.is("heap", "full")) {
            callWithFullHeap();
            return;
        }
        SystemClock.sleep(500);
        if (options.is("files", "used")) {
            hangWithoutDescriptor();
            return;
        }
        final int hang = options.number("hang", 6_000);
        new Handler(Looper.getMainLooper())
                .post(
                        new Runnable() {
                            @Override
                            public void run() {
                                SystemClock.sleep(hang);
                            }
                        });
        SystemClock.sleep(options.number("from", 500));
        exhaust(options.number("whose", 0), options.number("lacksMs", 3_500));
        SystemClock.sleep(hang + options.number("afterMs", 2_500));
        end();
    }

    /**
     * Makes main hang while the process has no descriptor left. The files that use them up are opened before
     * the hang: opening thousands of files takes longer than a hang on a busy machine.
     */
    private void hangWithoutDescriptor() {
        final File gate = new File(options.text("gate", ""));
        use();
        final CountDownLatch over = new CountDownLatch(1);
        new Handler(Looper.getMainLooper())
                .post(
                        new Runnable() {
                            @Override
                            public void run() {
                                while (!gate.exists()) {
                                    SystemClock.sleep(20);
                                }
                                over.countDown();
                            }
                        });
        try {
            over.await();
        } catch (InterruptedException never) {
            throw new AssertionError(never);
        }
        for (RandomAccessFile file : files) {
            close(file);
        }
        end();
    }

    private void end() {
        if (!options.is("recorder", "off")) {
            for (Status.Part part : Loopbox.status().getParts()) {
                Script.say("part " + part);
            }
            Script.say("dumped " + Loopbox.dump("at the end"));
        }
        Script.say("alive, refused " + refused());
        Runtime.getRuntime().halt(0);
    }

    private final List<Object> heap = new ArrayList<Object>(1 << 16);

    /**
     * Calls every method, again and again, while Java's heap is full: none may throw. Everything that this
     * needs is created before.
     */
    private void callWithFullHeap() {
        DumpCallback callback =
                new DumpCallback() {
                    @Override
                    public void onDumped(Report report) {}
                };
        int thrown = 0;
        int where = 0;
        Monitor monitor = Loopbox.monitor(new MonitorConfig.Builder().build());
        monitor.start();
        Loopbox.dump("before");
        for (int size = 1 << 20; size >= 16; size /= 4) {
            fill(size);
        }
        for (int turn = 0; turn < 30; turn++) {
            fill(16);
            for (int call = 0; call < CALLS; call++) {
                try {
                    call(call, monitor, callback);
                } catch (Throwable fault) {
                    thrown++;
                    where = call;
                }
            }
        }
        try {
            Loopbox.uninstall();
        } catch (Throwable fault) {
            thrown++;
            where = CALLS;
        }
        heap.clear();
        Script.say("thrown " + thrown + (thrown == 0 ? "" : ", the last one by call " + where));
        Script.say("alive, full");
        Runtime.getRuntime().halt(0);
    }

    /**
     * The argument of the calls. It is created here: the text of a string constant in a method is created at
     * its first use, which needs memory.
     */
    private final String word = "word";

    private static final int CALLS = 12;

    private void call(int number, Monitor monitor, DumpCallback callback) {
        switch (number) {
            case 0:
                Loopbox.annotate(word, word);
                break;
            case 1:
                Loopbox.scene(word);
                break;
            case 2:
                Loopbox.status();
                break;
            case 3:
                Loopbox.dump(word);
                break;
            case 4:
                Loopbox.dumpAsync(word, callback);
                break;
            case 5:
                Loopbox.setSampling(true);
                break;
            case 6:
                Loopbox.pause();
                break;
            case 7:
                Loopbox.resume();
                break;
            case 8:
                Loopbox.takePendingReports();
                break;
            case 9:
                monitor.pending();
                break;
            case 10:
                monitor.stop();
                break;
            case 11:
                monitor.start();
                break;
            default:
                break;
        }
    }

    private void fill(int size) {
        try {
            while (heap.size() < 1 << 16) {
                heap.add(new byte[size]);
            }
        } catch (OutOfMemoryError full) {
            return;
        }
    }

    /** Opens descriptors until there is none left. */
    private void use() {
        try {
            while (true) {
                files.add(new RandomAccessFile("/dev/null", "r"));
            }
        } catch (Exception none) {
            Script.say("used up by " + files.size() + " files");
        }
    }

    private static void close(RandomAccessFile file) {
        try {
            file.close();
        } catch (Exception unexpected) {
            throw new AssertionError(unexpected);
        }
    }
}
