package scenario;

import android.os.Handler;
import android.os.Looper;
import android.os.Message;
import io.loopbox.Loopbox;
import java.io.BufferedReader;
import java.io.FileReader;
import java.io.IOException;

/**
 * Very many short messages, now and then one that is kept by name and one that is sampled; says how much memory the
 * process had after a tenth of them and at the end. Arguments: {@code messages=N}, and those of {@link Options}.
 */
public final class Soak extends Handler {
    private final int messages;
    private int seen;

    private Soak(int messages) {
        this.messages = messages;
    }

    /** Runs to the end of the process. */
    public static void main(String[] arguments) {
        Looper.prepareMainLooper();
        Options options = new Options(arguments);
        if (!Loopbox.install(options.config().build())) {
            throw new AssertionError("not installed");
        }
        new Soak(options.number("messages", 1_000_000)).sendEmptyMessage(1);
        Looper.loop();
    }

    @Override
    public void handleMessage(Message message) {
        seen++;
        if (seen % 50_000 == 0) {
            // Two samples at least, and a name.
            Work.busy(75);
        }
        try {
            if (seen == messages / 10) {
                sayMemory("early");
            }
            if (seen == messages) {
                sayMemory("late");
                Loopbox.dump("soaked");
                Runtime.getRuntime().halt(0);
            }
        } catch (IOException failed) {
            throw new AssertionError(failed);
        }
        sendEmptyMessage(1);
    }

    /** Anonymous memory of the process, after a collection, so that garbage does not count. */
    private static void sayMemory(String when) throws IOException {
        Runtime.getRuntime().gc();
        BufferedReader status = new BufferedReader(new FileReader("/proc/self/status"));
        for (String line = status.readLine(); line != null; line = status.readLine()) {
            if (line.startsWith("RssAnon:")) {
                Script.say(when + " " + line.replaceAll("[^0-9]", ""));
            }
        }
        status.close();
    }
}
