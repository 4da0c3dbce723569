package phone;

import android.os.Handler;
import android.os.Looper;
import android.os.SystemClock;
import java.io.File;
import java.util.concurrent.atomic.AtomicInteger;
import scenario.Options;
import scenario.Script;

/**
 * What a message carries that waits in the queue: the thread that prints the queue for a report has to wait until the file
 * {@code printGate=} is there; not the first {@code printsAtOnce=} times.
 */
final class SlowlyPrinted {
    private static final long NEVER_MS = 86_400_000;
    private static final int PAUSE_MS = 5;

    private final File gate;
    private final AtomicInteger atOnce;

    private SlowlyPrinted(Options options) {
        gate = new File(options.text("printGate", ""));
        atOnce = new AtomicInteger(options.number("printsAtOnce", 0));
    }

    /** Puts one into the main queue, if the arguments want it. */
    static void post(Options options) {
        if (!options.text("printGate", "").isEmpty()) {
            Handler main = new Handler(Looper.getMainLooper());
            main.sendMessageDelayed(main.obtainMessage(0, new SlowlyPrinted(options)), NEVER_MS);
        }
    }

    @Override
    public String toString() {
        Script.say("prints the queue");
        if (atOnce.getAndDecrement() <= 0) {
            while (!gate.exists()) {
                SystemClock.sleep(PAUSE_MS);
            }
        }
        return "printed";
    }
}
