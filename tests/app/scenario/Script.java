package scenario;

import io.loopbox.DumpCallback;
import io.loopbox.Loopbox;
import io.loopbox.Report;
import io.loopbox.Status;
import java.io.File;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;

/** What scenarios report to the test that runs them: lines on standard output with a prefix. */
public final class Script {
    private static final long PAUSE_NS = 5_000_000;

    private Script() {}

    public static void say(String line) {
        System.out.println("SCRIPT " + line);
        System.out.flush();
    }

    /** Starts the recorder as the arguments want it. */
    static void install(Options options) {
        if (!Loopbox.install(options.config().build()).isOn()) {
            throw new AssertionError("not installed");
        }
    }

    /** Waits until the sampler has examined ART. After that the sampler samples, or reports why it cannot. */
    public static void awaitSampler() {
        while (true) {
            for (Status.Part part : Loopbox.status().getParts()) {
                if (part.getName().equals("sampler")) {
                    return;
                }
            }
            LockSupport.parkNanos(PAUSE_NS);
        }
    }

    /** Waits until the file is there. */
    static void awaitFile(String path) {
        while (!new File(path).exists()) {
            LockSupport.parkNanos(PAUSE_NS);
        }
    }

    /** Writes a report of what this thread is doing, and waits for it. */
    public static void dump(String reason) {
        if (ask(reason) == null) {
            throw new AssertionError("no report");
        }
    }

    /**
     * Writes a report as {@link #dump} does, waits for it, and returns its file; null when there is no
     * report. Without the wait the main thread would continue, and the report would be about its next
     * message.
     */
    public static File ask(String reason) {
        final CountDownLatch answered = new CountDownLatch(1);
        final File[] file = new File[1];
        Loopbox.dumpAsync(
                reason,
                new DumpCallback() {
                    @Override
                    public void onDumped(Report report) {
                        file[0] = report == null ? null : report.getFile();
                        answered.countDown();
                    }
                });
        try {
            answered.await();
        } catch (InterruptedException unexpected) {
            throw new AssertionError(unexpected);
        }
        return file[0];
    }
}
