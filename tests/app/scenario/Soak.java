package scenario;

import android.os.Handler;
import android.os.Looper;
import android.os.Message;
import io.loopbox.Loopbox;
import java.io.BufferedReader;
import java.io.FileReader;
import java.io.IOException;

/**
 * Very many messages, one at a time: each sends the next. Most do nothing, some work long enough to be
 * described and sampled.
 *
 * <p>Arguments: those of {@link Options}, {@code messages=}, and {@code slowEach=N}: every Nth message works.
 * At each quarter it prints the resident bytes and the bytes from malloc. At the end it asks for a report
 * inside of the last message, whose token is then the number of all messages.
 */
public final class Soak extends Handler {
    private static final int QUARTERS = 4;
    private static final int SLOW_MS = 80;
    private static final long PAGE = 4096;

    private final int messages;
    private final int slowEach;
    private int received;

    private Soak(Looper looper, Options options) {
        super(looper);
        messages = options.number("messages", 1000);
        slowEach = options.number("slowEach", 1000);
    }

    /** Sends all messages and ends the process. */
    public static void main(String[] arguments) {
        Looper.prepareMainLooper();
        Options options = new Options(arguments);
        if (!Loopbox.install(options.config().build()).isOn()) {
            throw new AssertionError("not installed");
        }
        new Soak(Looper.getMainLooper(), options).sendEmptyMessage(0);
        Looper.loop();
    }

    @Override
    public void handleMessage(Message message) {
        received++;
        if (received % slowEach == 0) {
            Work.busy(SLOW_MS);
        }
        if (received % (messages / QUARTERS) == 0) {
            measure();
        }
        if (received < messages) {
            sendEmptyMessage(received);
            return;
        }
        Script.dump("soak");
        Script.say("end " + received);
        Runtime.getRuntime().halt(0);
    }

    private void measure() {
        // What Java does not need any more is not growth.
        Runtime.getRuntime().gc();
        Runtime.getRuntime().runFinalization();
        Runtime.getRuntime().gc();
        Script.say("mark " + received + " " + residentBytes() + " " + Heap.mallocBytes());
    }

    private static long residentBytes() {
        try {
            BufferedReader file = new BufferedReader(new FileReader("/proc/self/statm"));
            try {
                return Long.parseLong(file.readLine().split(" ")[1]) * PAGE;
            } finally {
                file.close();
            }
        } catch (IOException failed) {
            throw new AssertionError(failed);
        }
    }
}
