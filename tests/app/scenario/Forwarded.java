package scenario;

import android.os.Handler;
import android.os.Looper;
import android.os.Message;
import android.os.Process;
import android.system.Os;
import android.system.OsConstants;
import io.loopbox.Config;
import io.loopbox.Listener;
import io.loopbox.Loopbox;
import io.loopbox.Report;
import java.util.concurrent.CountDownLatch;

/**
 * SIGQUIT must reach ART's Signal Catcher, no matter what the app's code does. {@code mode=listener}: a
 * listener does not return. {@code mode=queue}: a queued message takes long to print itself. {@code
 * mode=disk}: no report can be written. {@code mode=plain}: nothing interferes, and the app waits for the
 * report. {@code mode=ended}: the recorder is uninstalled, but a thread that inherited the unblocked signal
 * still lives.
 */
public final class Forwarded implements Runnable {
    private static final CountDownLatch ENTERED = new CountDownLatch(1);
    private static final CountDownLatch NEVER = new CountDownLatch(1);

    private final String mode;

    private Forwarded(String mode) {
        this.mode = mode;
    }

    /** Runs one scenario and ends the process. */
    public static void main(String[] arguments) {
        Looper.prepareMainLooper();
        Options options = new Options(arguments);
        String mode = options.text("mode", "ended");
        Config.Builder config = options.config();
        if ("listener".equals(mode)) {
            config.listener(null).listener(
                    new Listener() {
                        @Override
                        public void onReport(Report report) {
                            stay();
                        }
                    });
        }
        // Else no code of the app would run for the queue.
        config.keepObjects("queue".equals(mode));
        if (!Loopbox.install(config.build()).isOn()) {
            throw new AssertionError("not installed");
        }
        new Handler().post(new Forwarded(mode));
        Looper.loop();
    }

    @Override
    public void run() {
        try {
            SignalCatcher.await();
            if ("queue".equals(mode)) {
                new Handler().sendMessageDelayed(Message.obtain(null, 7, new Slow()), 60_000);
            }
            if ("ended".equals(mode)) {
                inheritMask();
                Loopbox.uninstall();
                for (int i = 0; i < 200; i++) {
                    Os.kill(Process.myPid(), OsConstants.SIGQUIT);
                }
            } else if (!"disk".equals(mode) && !"plain".equals(mode)) {
                long before = SignalCatcher.wakeUps();
                Os.kill(Process.myPid(), OsConstants.SIGQUIT);
                ENTERED.await();
                SignalCatcher.awaitAfter(before);
                Script.say("the worker or a listener is busy");
            }
            long before = SignalCatcher.wakeUps();
            Os.kill(Process.myPid(), OsConstants.SIGQUIT);
            SignalCatcher.awaitAfter(before);
            if ("plain".equals(mode)) {
                PrintingListener.await(1);
            }
            Script.say("forwarded");
            Runtime.getRuntime().halt(0);
        } catch (Exception failed) {
            throw new AssertionError(failed);
        }
    }

    private static void stay() {
        ENTERED.countDown();
        try {
            NEVER.await();
        } catch (InterruptedException ended) {
            throw new AssertionError(ended);
        }
    }

    /** Starts a thread, which inherits the main thread's present mask. */
    private static void inheritMask() throws InterruptedException {
        Thread heir =
                new Thread(
                        new Runnable() {
                            @Override
                            public void run() {
                                stay();
                            }
                        });
        heir.setDaemon(true);
        heir.start();
        ENTERED.await();
    }

    /** An object that is queued, and printed with the queue. */
    private static final class Slow {
        @Override
        public String toString() {
            stay();
            return "slow";
        }
    }
}
