package scenario;

import android.os.Looper;
import android.os.Process;
import android.os.SystemClock;
import android.system.Os;
import android.system.OsConstants;
import io.loopbox.Config;
import io.loopbox.DumpCallback;
import io.loopbox.Listener;
import io.loopbox.Loopbox;
import io.loopbox.Redactor;
import io.loopbox.Report;
import io.loopbox.Status;
import java.io.File;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * In each call from the recorder, the app does something that makes the recorder call it again. The argument
 * {@code mode=} is one of:
 *
 * <ul>
 *   <li>dump, async: the listener asks for a report;
 *   <li>thread: the listener makes another thread ask for a report at once;
 *   <li>signal: the listener sends SIGQUIT to the process;
 *   <li>annotate: the app sets an annotation a thousand times a second, and its Redactor sets another one.
 * </ul>
 *
 * At the end, {@code ms=} after the start, it prints how often the listener was called, and the status's text
 * about requests.
 */
public final class Feeding implements Listener, Redactor, Runnable {
    private final String mode;
    private final int ms;
    private final AtomicInteger called = new AtomicInteger();
    private final AtomicInteger nulls = new AtomicInteger();
    private final LinkedBlockingQueue<String> asks = new LinkedBlockingQueue<String>();

    private Feeding(Options options) {
        mode = options.text("mode", "dump");
        ms = options.number("ms", 3_000);
    }

    /** Runs one mode and ends the process. */
    public static void main(String[] arguments) {
        Looper.prepareMainLooper();
        Options options = new Options(arguments);
        Feeding app = new Feeding(options);
        Config.Builder config = options.config().listener(null).listener(app);
        if (options.is("mode", "annotate")) {
            config.redactor(app);
        }
        if (!Loopbox.install(config.build()).isOn()) {
            throw new AssertionError("not installed");
        }
        Script.awaitSampler();
        new Thread(app, "feeds").start();
        Looper.loop();
    }

    @Override
    public void onReport(Report report) {
        called.incrementAndGet();
        if (mode.equals("dump")) {
            again(Loopbox.dump("again"));
        } else if (mode.equals("async")) {
            async();
        } else if (mode.equals("signal")) {
            signal();
        } else {
            asks.add("again");
        }
    }

    private static void signal() {
        try {
            Os.kill(Process.myPid(), OsConstants.SIGQUIT);
        } catch (Exception unexpected) {
            throw new AssertionError(unexpected);
        }
    }

    /**
     * Sends SIGQUIT until the recorder has refused a request. Sends it again when no report came of the last
     * signal, because a signal that arrives while ART writes its trace may go to ART alone.
     */
    private void signals(long end) {
        while (SystemClock.uptimeMillis() < end && requests().equals("none")) {
            int before = called.get();
            SystemClock.sleep(500);
            if (before == called.get()) {
                signal();
            }
        }
    }

    private void again(File file) {
        if (file == null) {
            nulls.incrementAndGet();
        }
    }

    private void async() {
        Loopbox.dumpAsync(
                "again",
                new DumpCallback() {
                    @Override
                    public void onDumped(Report report) {
                        again(report == null ? null : report.getFile());
                        async();
                    }
                });
    }

    @Override
    public void run() {
        try {
            long end = SystemClock.uptimeMillis() + ms;
            if (mode.equals("annotate")) {
                annotate(end);
            } else {
                Loopbox.dump("first");
                while (mode.equals("thread") && SystemClock.uptimeMillis() < end) {
                    asks.take();
                    File file = Loopbox.dump("again");
                    again(file);
                    if (file == null) {
                        asks.add("again");
                        SystemClock.sleep(10);
                    }
                }
                if (mode.equals("signal")) {
                    signals(end);
                } else {
                    SystemClock.sleep(Math.max(0, end - SystemClock.uptimeMillis()));
                }
            }
            Script.say("called " + called.get() + " nulls " + nulls.get() + " status " + requests());
            Runtime.getRuntime().halt(0);
        } catch (Throwable fault) {
            fault.printStackTrace();
            Runtime.getRuntime().halt(1);
        }
    }

    private static String requests() {
        for (Status.Part part : Loopbox.status().getParts()) {
            if (part.getName().equals("requests")) {
                return part.getDetail();
            }
        }
        return "none";
    }

    private void annotate(long end) throws Exception {
        long before = Wakes.ofWorker();
        int value = 0;
        while (SystemClock.uptimeMillis() < end) {
            value++;
            Loopbox.annotate("count", Integer.toString(value));
            SystemClock.sleep(1);
        }
        Script.say("woken " + (Wakes.ofWorker() - before) + " in " + value);
        Script.say("dumped " + Loopbox.dump("counted " + value));
    }

    @Override
    public String redact(String name, String value) {
        Loopbox.annotate("redacted", value);
        return value;
    }
}
