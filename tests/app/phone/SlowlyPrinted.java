package phone;

import android.os.Handler;
import android.os.Looper;
import android.os.SystemClock;
import java.io.File;
import java.io.IOException;
import scenario.Options;

/**
 * The {@code Message.obj} of a message that waits in the queue. A thread calls its {@code toString} for a
 * report. This method creates a file, with the path of {@code printGate=} and {@code .waits} at its end. It
 * returns when that file is deleted, or when the file {@code printGate=} exists.
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

    /**
     * Posts a message with a {@code SlowlyPrinted} as its {@code obj} to the main queue, if the arguments
     * have {@code printGate=}.
     */
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
