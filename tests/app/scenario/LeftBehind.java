package scenario;

import android.os.Handler;
import android.os.Looper;
import android.os.Process;
import android.system.Os;
import android.system.OsConstants;
import com.othersdk.Signals;
import io.loopbox.Loopbox;
import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;
import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.SynchronousQueue;

/**
 * What another library leaves behind in the handling of SIGQUIT while the main thread is idle and the
 * recorder's threads are parked. {@code leaves=} is the kind. {@code waits=} lists pauses in seconds. After
 * each pause, in which nothing happens, the process gets the signal. ART must get it each time, and so must
 * the recorder, except where another library has blocked it on the main thread ({@code to=blocked}). With
 * {@code to=heir} the signal goes to a thread that the main thread has started.
 */
public final class LeftBehind implements Runnable {
    /**
     * The longest time between two checks of the stall monitor, in a process that is not in the background.
     */
    private static final int CHECK_MS = 700;

    private final Options options;
    private final Handler main = new Handler();
    private final SynchronousQueue<Boolean> raise = new SynchronousQueue<Boolean>();
    private boolean unloaded;

    private LeftBehind(Options options) {
        this.options = options;
    }

    /** Runs one scenario and ends the process. */
    public static void main(String[] arguments) throws Exception {
        Looper.prepareMainLooper();
        Options options = new Options(arguments);
        String leaves = options.text("leaves", "default");
        if ("older".equals(leaves)) {
            Signals.set(Signals.HANDLER);
        } else if ("once".equals(leaves)) {
            Signals.set(Signals.HANDLER_ONCE);
        } else if (leaves.startsWith("unloaded")) {
            Signals.load(options.text("library", null));
        }
        Script.install(options);
        Thread scenario = new Thread(new LeftBehind(options), "another library");
        scenario.setDaemon(true);
        scenario.start();
        Looper.loop();
    }

    @Override
    public void run() {
        try {
            Script.awaitSampler();
            if (options.text("to", null) != null) {
                blockOnMain();
            }
            SignalCatcher.await();
            String[] waits = options.text("waits", "0").split(",");
            for (int i = 0; i < waits.length; i++) {
                awaitParked();
                leave(options.text("leaves", "default"));
                Thread.sleep(Integer.parseInt(waits[i]) * 1_000L);
                long before = SignalCatcher.wakeUps();
                if (options.is("to", "heir")) {
                    raise.put(true);
                } else {
                    Os.kill(Process.myPid(), OsConstants.SIGQUIT);
                }
                SignalCatcher.awaitAfter(before);
                if (!options.is("to", "blocked")) {
                    PrintingListener.await(i + 1);
                }
                SignalCatcher.await();
            }
            Script.say("others " + Signals.count());
            Script.dump("at the end");
            Script.say("lived");
            Runtime.getRuntime().halt(0);
        } catch (Throwable failed) {
            failed.printStackTrace();
            Runtime.getRuntime().halt(1);
        }
    }

    private void leave(String what) throws IOException {
        if ("default".equals(what)) {
            Signals.set(Signals.DEFAULT);
        } else if ("ignore".equals(what)) {
            Signals.set(Signals.IGNORE);
        } else if ("own".equals(what) || "older".equals(what)) {
            Signals.set(Signals.HANDLER);
        } else if ("unloaded".equals(what)) {
            unload();
        } else if ("unloaded-over".equals(what) && unload()) {
            // What a call into it would be: traps.
            File file = new File(options.text("dir", "."), "traps");
            byte[] traps = new byte[4_096];
            Arrays.fill(traps, (byte) 0xcc);
            FileOutputStream out = new FileOutputStream(file);
            out.write(traps);
            out.close();
            Signals.loadOver(file.getPath());
        }
    }

    private boolean unload() {
        if (unloaded) {
            return false;
        }
        unloaded = true;
        Signals.unload();
        return true;
    }

    /**
     * Makes the main thread start a thread, which inherits the unblocked signal, and then block the signal
     * for itself.
     */
    private void blockOnMain() throws InterruptedException {
        final CountDownLatch done = new CountDownLatch(1);
        main.post(
                new Runnable() {
                    @Override
                    public void run() {
                        startHeir();
                        Signals.block();
                        done.countDown();
                    }
                });
        done.await();
    }

    private void startHeir() {
        Thread heir =
                new Thread("heir") {
                    @Override
                    public void run() {
                        try {
                            while (raise.take()) {
                                Signals.raise();
                            }
                        } catch (InterruptedException ended) {
                            throw new AssertionError(ended);
                        }
                    }
                };
        heir.setDaemon(true);
        heir.start();
    }

    /** Waits until the stall monitor has not woken up for longer than it sleeps between two checks. */
    private static void awaitParked() throws InterruptedException, IOException {
        long before = -1;
        for (long wakes = Tasks.wakeUps("loopbox-watch"); wakes != before; ) {
            before = wakes;
            Thread.sleep(CHECK_MS);
            wakes = Tasks.wakeUps("loopbox-watch");
        }
    }
}
