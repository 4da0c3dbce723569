import io.loopbox.Config;
import io.loopbox.Logger;
import io.loopbox.Loopbox;
import java.io.File;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;

/** An app's own log receives the recorder's lines, on a JVM. Prints the received lines. */
public final class Logs implements Logger {
    private static final File FOLDER = new File(System.getProperty("java.io.tmpdir"), "loopbox-logs");
    private static final int FLOOD = 100;

    private final LinkedBlockingQueue<String> came = new LinkedBlockingQueue<String>();
    private volatile CountDownLatch holds = new CountDownLatch(0);
    private volatile boolean throwsNow;
    private volatile boolean logsItself;

    public static void main(String[] arguments) throws Exception {
        Logs app = new Logs();
        line(0);
        install(app);
        System.out.println("installed " + app.came.take());
        // The platform refuses something.
        Loopbox.pendingReports();
        System.out.println("fault " + app.came.take());
        app.throwsNow = true;
        line(1);
        System.out.println("thrown " + app.came.take());
        app.throwsNow = false;
        line(2);
        System.out.println("after " + app.came.take());
        app.logsItself = true;
        line(3);
        System.out.println("itself " + app.came.take());
        app.logsItself = false;
        // The logger stands still, and who logs does not.
        app.holds = new CountDownLatch(1);
        line(4);
        System.out.println("held " + app.came.take());
        for (int number = 1; number <= FLOOD; number++) {
            line(number);
        }
        app.holds.countDown();
        String last = app.came.take();
        int lines = 0;
        while (!last.contains("left out")) {
            lines++;
            last = app.came.take();
        }
        System.out.println("flood " + lines + " " + last);
        // What the platform refuses comes before the choice.
        install(null);
        System.out.println("fault " + app.came.take());
        line(5);
        install(app);
        System.out.println("again " + app.came.take());
        System.out.println("left " + app.came.size());
    }

    private static void install(Logger logger) {
        Loopbox.install(new Config.Builder(FOLDER).logger(logger).build());
    }

    /** Makes the recorder log a line that differs from the last one. */
    private static void line(int number) {
        Loopbox.annotate(number % 2 == 0 ? "foreground" : "system_start", "x");
    }

    @Override
    public void log(int priority, String line, Throwable fault) {
        String thread = Thread.currentThread().getName();
        String words = priority + " " + thread + ": " + line + (fault == null ? "" : " (" + fault.getMessage() + ")");
        if (logsItself) {
            line(0);
            line(1);
        }
        // Read first: the other thread sets the next one once it has the words.
        CountDownLatch held = holds;
        came.add(words);
        try {
            held.await();
        } catch (InterruptedException unexpected) {
            throw new AssertionError(unexpected);
        }
        if (throwsNow) {
            throw new IllegalStateException("the disk of the app is full");
        }
    }
}
