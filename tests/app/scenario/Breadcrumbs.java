package scenario;

import android.os.Handler;
import android.os.Looper;
import android.os.SystemClock;
import android.util.Log;
import io.loopbox.Config;
import io.loopbox.Logger;
import io.loopbox.Loopbox;
import io.loopbox.Redactor;
import java.util.concurrent.CountDownLatch;

/**
 * The app leaves breadcrumbs. The argument {@code mode=} is one of:
 *
 * <ul>
 *   <li>early: seventy of them before the installation, and some with bad names after it. The app's Redactor
 *   removes some, and throws for one; the app's Logger gets the exception;
 *   <li>flood: ten thousand of them, from four threads. The app prints how often the worker was woken;
 *   <li>hang: one before a message that does not end, and, during that message, one from another thread.
 * </ul>
 *
 * The other arguments are those of {@link Options}.
 */
public final class Breadcrumbs implements Redactor, Logger, Runnable {
    private static final int EARLY = 70;
    private static final int FLOOD = 10_000;
    private static final int THREADS = 4;

    private final CountDownLatch logged = new CountDownLatch(1);

    private Breadcrumbs() {}

    /** Runs one mode and ends the process, except for the hang, which is killed. */
    public static void main(String[] arguments) throws Exception {
        Looper.prepareMainLooper();
        final Options options = new Options(arguments);
        String mode = options.text("mode", "hang");
        Breadcrumbs app = new Breadcrumbs();
        if (mode.equals("early")) {
            for (int number = 0; number < EARLY; number++) {
                Loopbox.breadcrumb("early " + number);
            }
            Loopbox.breadcrumb("card 4111");
            Loopbox.breadcrumb(null);
            Loopbox.breadcrumb("");
        }
        Config.Builder config = options.config();
        if (mode.equals("early")) {
            config.redactor(app).logger(app);
        }
        if (!Loopbox.install(config.build()).isOn()) {
            throw new AssertionError("not installed");
        }
        Script.awaitSampler();
        if (mode.equals("early")) {
            bad();
            app.logged.await();
        } else if (mode.equals("flood")) {
            flood();
        } else {
            new Handler().post(app);
            Looper.loop();
        }
        Script.dump(mode);
        Loopbox.uninstall();
        Loopbox.breadcrumb("of no recording");
        Loopbox.uninstall();
        Script.install(options);
        Script.awaitSampler();
        Script.dump("second");
        Script.say("done");
        Runtime.getRuntime().halt(0);
    }

    private static void bad() {
        Loopbox.breadcrumb("");
        Loopbox.breadcrumb(null);
        Loopbox.breadcrumb(" \t\n\0 ");
        Loopbox.breadcrumb("card 4111");
        Loopbox.breadcrumb("two\nlines\tand \u009b");
        Loopbox.breadcrumb(new String(new char[40]).replace("\0", "\uD83D\uDED2") + "cut");
        Loopbox.breadcrumb("\uD83D half");
        Loopbox.breadcrumb(new String(new char[100_000]).replace('\0', 'x'));
        Loopbox.breadcrumb("user 7");
    }

    private static void flood() throws Exception {
        long before = Wakes.ofWorker();
        Thread[] threads = new Thread[THREADS];
        for (int nth = 0; nth < THREADS; nth++) {
            final int of = nth;
            threads[nth] =
                    new Thread("leaves-" + nth) {
                        @Override
                        public void run() {
                            for (int number = 0; number < FLOOD / THREADS; number++) {
                                Loopbox.breadcrumb("of " + of + ": " + number);
                            }
                        }
                    };
        }
        long beganMs = SystemClock.uptimeMillis();
        for (Thread thread : threads) {
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        long tookMs = SystemClock.uptimeMillis() - beganMs;
        Script.say("woken " + (Wakes.ofWorker() - before) + " in " + tookMs + " ms");
    }

    /** The message that hangs. */
    @Override
    public void run() {
        Loopbox.breadcrumb("before the hang");
        new Thread("leaves") {
            @Override
            public void run() {
                SystemClock.sleep(1_000);
                Loopbox.breadcrumb("in the hang");
            }
        }.start();
        Script.say("hangs");
        while (true) {
            Work.busy(1_000);
        }
    }

    @Override
    public void log(int priority, String line, Throwable fault) {
        Script.say("logged " + priority + " on " + Thread.currentThread().getName() + ": " + line + " (" + fault + ")");
        if (priority == Log.ERROR) {
            logged.countDown();
        }
    }

    @Override
    public String redact(String name, String value) {
        Loopbox.breadcrumb("of the redactor");
        if (!name.equals("breadcrumb")) {
            throw new AssertionError(name);
        }
        if (value.startsWith("card")) {
            return null;
        }
        if (value.equals("user 7")) {
            throw new IllegalStateException(value);
        }
        return value;
    }
}
