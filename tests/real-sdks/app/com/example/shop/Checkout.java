package com.example.shop;

import android.os.Handler;
import android.os.Looper;
import android.os.SystemClock;
import io.loopbox.Listener;
import io.loopbox.Loopbox;
import io.loopbox.Report;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import scenario.Options;
import scenario.Phone;
import scenario.Script;

/**
 * Hangs, so that there is a report for crash SDKs. Arguments: those of {@link Options} and {@link Phone};
 * {@code hang=}: what the main thread does in the hang, {@code pay} or {@code feed}; {@code ms=}: for how
 * long at least; {@code version=} and {@code user=}.
 */
public final class Checkout implements Listener {
    private static volatile long shown;

    /**
     * Whether there is a report of the hang. The hang lasts until then, because a busy machine notices it
     * late.
     */
    private static volatile boolean reported;

    private final LinkedBlockingQueue<Report> reports = new LinkedBlockingQueue<Report>();

    public static void main(String[] arguments) {
        Looper.prepareMainLooper();
        Options options = new Options(arguments);
        final Checkout checkout = new Checkout();
        Loopbox.install(
                new Phone(options),
                options.config()
                        .appVersion(options.text("version", ""))
                        .annotate("user", options.text("user", ""))
                        .listener(checkout)
                        .build());
        final Report.Kind kind = options.text("says", "").isEmpty() ? Report.Kind.HANG : Report.Kind.ANR;
        final String what = options.text("hang", "pay");
        final int ms = options.number("ms", 0);
        Thread thread =
                new Thread("script") {
                    @Override
                    public void run() {
                        checkout.hang(what, ms, kind);
                    }
                };
        thread.start();
        Looper.loop();
    }

    @Override
    public void onReport(Report report) {
        reports.add(report);
    }

    private void hang(String what, long ms, Report.Kind kind) {
        Handler main = new Handler(Looper.getMainLooper());
        // Or there is no stack of it.
        Script.awaitSampler();
        try {
            // A busy machine may draw the start out, which is no hang that is meant.
            awaitMain(main);
            reports.clear();
            main.post(what.equals("pay") ? new PayButton(ms) : new FeedAdapter(ms));
            Report report = reports.take();
            // A report that gets more is heard of again.
            while (report.getKind() != kind) {
                report = reports.take();
            }
            reported = true;
            awaitMain(main);
        } catch (InterruptedException stopped) {
            return;
        }
        Script.say("done");
        Runtime.getRuntime().halt(0);
    }

    private static void awaitMain(Handler main) throws InterruptedException {
        final CountDownLatch free = new CountDownLatch(1);
        main.post(
                new Runnable() {
                    @Override
                    public void run() {
                        free.countDown();
                    }
                });
        free.await();
    }

    /** Waits for a server on the main thread. */
    private static final class PayButton implements Runnable {
        private final long ms;

        PayButton(long ms) {
            this.ms = ms;
        }

        @Override
        public void run() {
            new PaymentRepository().authorise(ms);
        }
    }

    private static final class PaymentRepository {
        void authorise(long ms) {
            new CardClient().post(ms);
        }
    }

    private static final class CardClient {
        void post(long ms) {
            do {
                SystemClock.sleep(ms);
            } while (!reported);
        }
    }

    /** Shows too much on the main thread. */
    private static final class FeedAdapter implements Runnable {
        private final long ms;

        FeedAdapter(long ms) {
            this.ms = ms;
        }

        @Override
        public void run() {
            long until = SystemClock.uptimeMillis() + ms;
            while (SystemClock.uptimeMillis() < until || !reported) {
                bind();
            }
        }

        private void bind() {
            for (int row = 0; row < 1_000; row++) {
                shown += row;
            }
        }
    }
}
