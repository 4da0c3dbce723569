package scenario;

import android.os.Handler;
import android.os.HandlerThread;
import android.os.Looper;
import android.os.Message;
import android.system.Os;
import android.system.OsConstants;
import com.example.shop.ShopHandler;
import io.loopbox.Config;
import io.loopbox.Listener;
import io.loopbox.Loopbox;
import io.loopbox.Report;
import java.util.Vector;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.LockSupport;

/**
 * The queue of an app that posts under its own locks, holds the queue's lock, or changes the queue while it
 * is read.
 *
 * <p>{@code mode=posting}: the queue has a message whose obj has a synchronized toString, and main posts
 * under the obj's lock all the time, while reports of every kind are written; {@code mode=locked}: main holds
 * the queue's lock until the report is there; {@code mode=churn}: threads post and remove messages, which are
 * from the same pool as those of other Loopers.
 */
public final class Queues {
    private static final int REPORTS = 12;
    private static final int WAITING = 20_000;
    private static final long LATER_MS = 3_600_000;
    private static final int POSTED_MS = 2;

    private final Options options;
    private final Semaphore written = new Semaphore(0);
    private final CountDownLatch hung = new CountDownLatch(1);

    private Queues(Options options) {
        this.options = options;
    }

    /** Runs one scenario and ends the process. */
    public static void main(String[] arguments) throws Exception {
        Looper.prepareMainLooper();
        Options options = new Options(arguments);
        final Queues queues = new Queues(options);
        Config.Builder config = options.config().hangMs(500);
        config.listener(null).listener(
                new Listener() {
                    @Override
                    public void onReport(Report report) {
                        queues.written.release();
                        if (report.getReason().equals("hang")) {
                            queues.hung.countDown();
                        }
                    }
                });
        if (!Loopbox.install(config.build()).isOn()) {
            throw new AssertionError("not installed");
        }
        queues.run(options.text("mode", ""));
    }

    private void run(String mode) throws Exception {
        if ("posting".equals(mode)) {
            posting();
        } else if ("locked".equals(mode)) {
            locked();
        } else {
            churn();
        }
    }

    /**
     * Main posts under the lock of a queued object. The object's class is an ordinary one with a synchronized
     * toString.
     */
    private void posting() {
        final Handler handler = new Handler();
        final Vector<String> basket = new Vector<String>();
        basket.add("tea");
        handler.sendMessageDelayed(handler.obtainMessage(77, basket), LATER_MS);
        handler.post(
                new Runnable() {
                    @Override
                    public void run() {
                        synchronized (basket) {
                            Work.busy(POSTED_MS);
                            handler.post(this);
                        }
                    }
                });
        new Thread("reports") {
            @Override
            public void run() {
                try {
                    SignalCatcher.await();
                    for (int report = 0; report < REPORTS; report++) {
                        Script.ask("asked");
                    }
                    for (int signal = 0; signal < 3; signal++) {
                        written.drainPermits();
                        Os.kill(Os.getpid(), OsConstants.SIGQUIT);
                        written.acquire();
                    }
                    // A hang: main holds the lock of the obj for as long as it takes.
                    handler.post(
                            new Runnable() {
                                @Override
                                public void run() {
                                    synchronized (basket) {
                                        await(hung);
                                    }
                                }
                            });
                    // Main has gone on when it has run what was posted after all that.
                    final CountDownLatch ran = new CountDownLatch(1);
                    handler.post(
                            new Runnable() {
                                @Override
                                public void run() {
                                    ran.countDown();
                                }
                            });
                    await(ran);
                    Script.say("main goes on");
                    end();
                } catch (Exception unexpected) {
                    throw new AssertionError(unexpected);
                }
            }
        }.start();
        Looper.loop();
    }

    /** The queue's lock is the queue object itself. A report that needed this lock would never come. */
    private void locked() {
        Handler handler = new Handler();
        for (int what = 1; what <= WAITING; what++) {
            handler.sendEmptyMessageDelayed(what, LATER_MS + what);
        }
        synchronized (Looper.myQueue()) {
            Script.say("report " + (Script.ask("locked") != null));
        }
        Runtime.getRuntime().halt(0);
    }

    /**
     * Half of the threads post messages to main and remove messages; the other half do so with a Looper of
     * another class. All messages are of one pool.
     */
    private void churn() throws Exception {
        HandlerThread other = new HandlerThread("other");
        other.start();
        final Handler foreign = new Foreign(other.getLooper());
        for (int thread = 0; thread < 4; thread++) {
            final Handler to = thread % 2 == 0 ? new ShopHandler(Looper.getMainLooper()) : foreign;
            new Thread("churn-" + thread) {
                @Override
                public void run() {
                    for (int what = 0; true; what = (what + 1) % 64) {
                        to.sendEmptyMessageDelayed(1_000 + what, what % 3 == 0 ? 0 : LATER_MS);
                        to.removeMessages(1_000 + (what + 32) % 64);
                        // Main must be able to handle what is due, or the queue grows without end.
                        LockSupport.parkNanos(what % 8 == 0 ? 1_000_000 : 1);
                    }
                }
            }.start();
        }
        new Thread("reports") {
            @Override
            public void run() {
                for (int report = 0; report < REPORTS; report++) {
                    Script.ask("churn");
                }
                end();
            }
        }.start();
        Looper.loop();
    }

    /** A Handler of another Looper: its messages are never in main's queue. */
    private static final class Foreign extends Handler {
        Foreign(Looper looper) {
            super(looper);
        }

        @Override
        public void handleMessage(Message message) {}
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException unexpected) {
            throw new AssertionError(unexpected);
        }
    }

    private void end() {
        Runtime.getRuntime().halt(0);
    }
}
