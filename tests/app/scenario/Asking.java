package scenario;

import android.os.Handler;
import android.os.Looper;
import android.os.Message;
import io.loopbox.Config;
import io.loopbox.DumpCallback;
import io.loopbox.FirstFileListener;
import io.loopbox.Loopbox;
import io.loopbox.Report;
import java.io.File;
import java.util.concurrent.CountDownLatch;

/**
 * The main thread asks for reports, and continues. With {@code mode=disk} it asks repeatedly, while the disk
 * does not answer. With {@code mode=callback} the callback of each request is called, also when there can be
 * no report. With {@code mode=first} the recorder waits for the text of a queued object, whose toString waits
 * until a listener is notified of the first file. The arguments of {@link Options} apply; the reports are in
 * a folder inside of {@code dir}.
 */
public final class Asking implements Runnable {
    private static final int MANY = 50;

    private final File directory;
    private final String mode;

    private Asking(File directory, String mode) {
        this.directory = directory;
        this.mode = mode;
    }

    /** Runs one scenario and ends the process. */
    public static void main(String[] arguments) {
        Looper.prepareMainLooper();
        Options options = new Options(arguments);
        File directory = new File(options.text("dir", "."), "reports");
        String mode = options.text("mode", "callback");
        Config.Builder config = new Config.Builder(directory).pendingMs(2_000);
        // Else nothing of the app runs while the queue is read.
        config.keepObjects("first".equals(mode));
        config.listener("first".equals(mode) ? new Early() : new PrintingListener());
        if (!Loopbox.install(config.build()).isOn()) {
            throw new AssertionError("not installed");
        }
        new Handler().post(new Asking(directory, mode));
        Looper.loop();
    }

    @Override
    public void run() {
        try {
            if ("disk".equals(mode)) {
                for (int i = 0; i < MANY; i++) {
                    Script.say("got " + Loopbox.dump("on main " + i));
                }
            } else if ("first".equals(mode)) {
                new Handler().sendMessageDelayed(Message.obtain(null, 7, new Printed()), 3_600_000);
                Script.dump("asked");
                // The listener has been called by now, the one who asked after it.
            } else {
                callback();
            }
            Script.say("done");
            Runtime.getRuntime().halt(0);
        } catch (Exception failed) {
            throw new AssertionError(failed);
        }
    }

    private static final CountDownLatch FIRST = new CountDownLatch(1);

    /** A queued object whose toString returns only when the listener has the first file. */
    private static final class Printed {
        @Override
        public String toString() {
            try {
                FIRST.await();
            } catch (InterruptedException tooLate) {
                Script.say("not heard of");
            }
            return "printed";
        }
    }

    private static final class Early implements FirstFileListener {
        @Override
        public void onFirstFile(Report report) {
            say(report);
            FIRST.countDown();
        }

        @Override
        public void onReport(Report report) {
            say(report);
        }

        private static void say(Report report) {
            String state = report.isComplete() ? "complete" : "incomplete";
            Script.say(state + " " + report.getFile().getName() + " " + report.getLabel() + " " + report.getDigest());
        }
    }

    private void callback() throws Exception {
        Script.say("got " + Loopbox.dump("dump on main"));
        ask("asked");
        File aside = new File(directory.getPath() + ".aside");
        if (!directory.renameTo(aside) || !directory.createNewFile()) {
            throw new AssertionError("no file in the directory's place");
        }
        ask("nowhere");
        Loopbox.uninstall();
        ask("ended");
    }

    /** Requests a report and waits for the answer, so that the report is about this message. */
    private static void ask(final String reason) throws InterruptedException {
        final CountDownLatch answered = new CountDownLatch(1);
        Loopbox.dumpAsync(
                reason,
                new DumpCallback() {
                    @Override
                    public void onDumped(Report report) {
                        String what = report == null ? "nothing" : report.getLabel() + " " + report.getFile().getName();
                        Script.say("answer to " + reason + ": " + what + " on " + Thread.currentThread().getName());
                        answered.countDown();
                        throw new IllegalStateException("who asked throws");
                    }
                });
        answered.await();
    }
}
