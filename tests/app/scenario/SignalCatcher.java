package scenario;

import java.io.BufferedReader;
import java.io.File;
import java.io.FileReader;
import java.io.IOException;

/** ART's thread that waits for SIGQUIT, as the kernel sees it. */
public final class SignalCatcher {
    private static final String NAME = "Signal Catcher";
    private static final long SIGQUIT_BIT = 1L << 2;

    private SignalCatcher() {}

    /**
     * Waits until the Signal Catcher has taken every signal that is meant for it and waits for the next one.
     * A signal that is sent before that might go to the Signal Catcher instead of to the main thread.
     */
    public static void await() throws InterruptedException, IOException {
        while (!isWaiting()) {
            Thread.sleep(5);
        }
    }

    /**
     * The number of the Signal Catcher's voluntary context switches. It grows whenever the Signal Catcher
     * sleeps again, which it does after it has answered a signal. So a larger number shows that it was woken.
     */
    static long wakeUps() throws IOException {
        return Tasks.wakeUps(NAME);
    }

    /**
     * Waits until the Signal Catcher has received a signal. {@code wakeUps} is the result of {@link
     * #wakeUps()} before the signal was sent.
     */
    static void awaitAfter(long wakeUps) throws InterruptedException, IOException {
        while (wakeUps() == wakeUps) {
            Thread.sleep(5);
        }
        await();
    }

    private static boolean isWaiting() throws IOException {
        // In sigwait the kernel takes what is waited for out of the thread's mask.
        File status = new File(Tasks.named(NAME), "status");
        return !has(status, "SigPnd:") && !has(status, "ShdPnd:") && !has(status, "SigBlk:");
    }

    private static boolean has(File status, String mask) throws IOException {
        try (BufferedReader reader = new BufferedReader(new FileReader(status))) {
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                if (line.startsWith(mask)) {
                    return (Long.parseLong(line.substring(mask.length()).trim(), 16) & SIGQUIT_BIT) != 0;
                }
            }
        }
        throw new AssertionError(mask + " is not in " + status);
    }
}
