package phone;

import android.os.Handler;
import android.os.Looper;
import android.os.SystemClock;
import java.io.File;
import java.io.IOException;
import scenario.Options;

/**
 * What a message carries that waits in the queue: whoever asks for its text for a report makes a file, {@code
 * printGate=} and {@code .waits}, and goes on when that is taken away, or when the file {@code printGate=} is
 * there.
 */
final class SlowlyPrinted {
    private static final long NEVER_MS = 86_400_000;
    private static final int PAUSE_MS = 5;

    private final File gate;
    private final File waits;

    private SlowlyPrinted(String path) {
        gate = new File(path);
        waits = new File(path + ".waits");
    }

    /** Puts one into the main queue, if the arguments want it. */
    static void post(Options options) {
        String path = options.text("printGate", "");
        if (!path.isEmpty()) {
            Handler main = new Handler(Looper.getMainLooper());
            main.sendMessageDelayed(main.obtainMessage(0, new SlowlyPrinted(path)), NEVER_MS);
        }
    }

    @Override
    public String toString() {
        try {
            // One at a time: one thread asks.
            waits.createNewFile();
        } catch (IOException failed) {
            throw new IllegalStateException(failed);
        }
        while (waits.exists() && !gate.exists()) {
            SystemClock.sleep(PAUSE_MS);
        }
        return "printed";
    }
}
