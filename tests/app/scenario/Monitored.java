package scenario;

import android.os.Handler;
import android.os.Looper;
import android.util.Printer;
import io.loopbox.Loopbox;
import io.loopbox.Monitor;
import io.loopbox.MonitorConfig;
import io.loopbox.MonitorListener;
import io.loopbox.MonitorSampler;
import io.loopbox.Stall;
import java.io.File;
import java.util.Map;
import java.util.concurrent.Semaphore;

/**
 * An app with the performance monitor. {@code blocks=}: how many of its messages block, each until the
 * monitor has reported it and sampled the process twice. Other arguments are those of {@link Options}. {@code
 * gate=FILE}: wait for that file before the monitor is started. {@code printer=yes}: another library has a
 * Printer. {@code interrupts=yes}: the listener of stalls leaves its thread interrupted.
 */
public final class Monitored implements MonitorListener, MonitorSampler, Printer, Runnable {
    private static final int PAUSE_MS = 10;
    private static final int SAMPLES = 2;

    private final Options options;
    private final Handler handler = new Handler(Looper.getMainLooper());
    private final Semaphore blocked = new Semaphore(0);
    private final Semaphore sampled = new Semaphore(0);
    private final Semaphore stalled = new Semaphore(0);
    private long samples;
    private volatile int printed;
    private Monitor monitor;

    private Monitored(Options options) {
        this.options = options;
    }

    /** Runs the scenario and ends the process. */
    public static void main(String[] arguments) throws InterruptedException {
        Looper.prepareMainLooper();
        Options options = new Options(arguments);
        Monitored app = new Monitored(options);
        if (options.is("printer", "yes")) {
            Looper.getMainLooper().setMessageLogging(app);
        }
        Script.install(options);
        Loopbox.scene("Feed");
        Loopbox.annotate("user", "\u7528\u6237 7");
        Script.awaitSampler();
        MonitorConfig.Builder config = new MonitorConfig.Builder().listener(app);
        app.monitor = Loopbox.monitor(config.build());
        app.monitor.addSampler(app);
        String gate = options.text("gate", "");
        if (!gate.isEmpty()) {
            Script.say("waits");
            while (!new File(gate).exists()) {
                Thread.sleep(PAUSE_MS);
            }
        }
        Script.say("started " + app.monitor.start() + " " + app.monitor.isMonitoring());
        new Thread(app, "scenario").start();
        Looper.loop();
    }

    @Override
    public void run() {
        try {
            // There is a sample of before.
            sampled.acquire();
            int blocks = options.number("blocks", 3);
            for (int turn = 0; turn < blocks; turn++) {
                handler.post(new Block());
                stalled.acquire();
            }
            monitor.stop();
            Script.say("stopped " + monitor.isMonitoring());
            for (File file : monitor.pending()) {
                Script.say("file " + file.getPath());
            }
            Loopbox.uninstall();
            int before = printed;
            final Semaphore ran = new Semaphore(0);
            // The line behind a message is printed after it has run.
            for (int turn = 0; turn < 2; turn++) {
                handler.post(
                        new Runnable() {
                            @Override
                            public void run() {
                                ran.release();
                            }
                        });
                ran.acquire();
            }
            Script.say("prints " + (printed > before));
            Runtime.getRuntime().halt(0);
        } catch (Throwable fault) {
            fault.printStackTrace();
            Runtime.getRuntime().halt(1);
        }
    }

    @Override
    public void println(String line) {
        printed++;
    }

    @Override
    public String name() {
        return "scenario";
    }

    @Override
    public void sample(Map<String, Long> into) {
        into.put("samples", ++samples);
        sampled.release();
    }

    @Override
    public void onBlock(long ageMs, String stack) {
        if (stack.contains("Monitored$Block.run")) {
            Script.say("block " + ageMs + " " + stack.replace('\n', '|'));
            blocked.release();
        }
    }

    @Override
    public void onStall(Stall stall) {
        if (stall.getMessage().contains("Monitored$Block")) {
            Script.say("stall " + stall.getLevel() + " " + (stall.getWallMs() > 200) + " " + stall.getScene() + " " + stall.getJson());
            stalled.release();
        }
        if (options.is("interrupts", "yes")) {
            Thread.currentThread().interrupt();
        }
    }

    /** Blocks the main thread as long as the scenario needs. */
    private final class Block implements Runnable {
        @Override
        public void run() {
            blocked.acquireUninterruptibly();
            sampled.drainPermits();
            sampled.acquireUninterruptibly(SAMPLES);
        }
    }
}
