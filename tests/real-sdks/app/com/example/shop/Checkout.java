package com.example.shop;

import android.os.Handler;
import android.os.Looper;
import android.os.SystemClock;
import io.loopbox.Listener;
import io.loopbox.Loopbox;
import io.loopbox.Report;
import java.util.concurrent.LinkedBlockingQueue;
import scenario.Options;
import scenario.Phone;

/**
 * Hangs, so that there are reports for crash SDKs. Arguments: those of {@link Options} and {@link Phone}; {@code hangs=NAME:MS,...}:
 * what the main thread does one after the other, {@code pay} or {@code feed}; {@code version=} and {@code user=}.
 */
public final class Checkout implements Listener {
    private static volatile long shown;

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
        final String[] hangs = options.text("hangs", "").split(",");
        Thread thread =
                new Thread("script") {
                    @Override
                    public void run() {
                        checkout.hang(hangs, kind);
                    }
                };
        thread.start();
        Looper.loop();
    }

    @Override
    public void onReport(Report report) {
        reports.add(report);
    }

    private void hang(String[] hangs, Report.Kind kind) {
        Handler main = new Handler(Looper.getMainLooper());
        try {
            for (String hang : hangs) {
                int colon = hang.indexOf(':');
                long ms = Long.parseLong(hang.substring(colon + 1));
                main.post(hang.startsWith("pay:") ? new PayButton(ms) : new FeedAdapter(ms));
                Report report = reports.take();
                // Written while it hangs, and completed at its end. The clock of the hang has whole milliseconds.
                while (report.durationMs() < ms - 1 || report.kind() != kind) {
                    report = reports.take();
                }
                System.out.println("SCRIPT " + report.kind() + " " + report.durationMs() + " " + report.title());
            }
        } catch (InterruptedException stopped) {
            return;
        }
        System.out.println("SCRIPT done");
        System.out.flush();
        Runtime.getRuntime().halt(0);
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
            SystemClock.sleep(ms);
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
            while (SystemClock.uptimeMillis() < until) {
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
