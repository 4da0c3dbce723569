package scenario;

import android.os.Handler;
import android.os.Looper;
import android.os.Message;
import io.loopbox.Config;
import io.loopbox.Loopbox;
import java.io.File;

/**
 * Messages one after the other, each printing when it begins and ends (uptime in nanoseconds), so that the
 * test knows what the recorder must have. Of each {@link #CYCLE} messages the last one hangs for seconds.
 *
 * <p>Arguments: those of {@link Options}. {@code wait=MS}: how long a hang sleeps. {@code gate=FILE}: wait
 * for that file before the recorder is installed, so that this process's limits can be set first. {@code
 * exits=}: install with a Context, {@link Phone}. {@code dumps=FOLDER}: no message hangs; when the file
 * {@code N} (from 0 on) appears in the folder, the next message asks for a report and prints whether there is
 * one.
 */
public final class Killed extends Handler {
    private static final int CYCLE = 8;
    private static final int LONG_EACH = 4;
    private static final int SHORT_MS = 5;
    private static final int LONG_MS = 80;
    private static final int HANG_WORK_MS = 500;
    private static final int HANG_WAIT_MS = 3_500;
    private static final int PAUSE_MS = 10;

    private final File dumps;
    private final int waitMs;
    private int received;
    private int dumped;

    private Killed(Looper looper, Options options) {
        super(looper);
        String folder = options.text("dumps", "");
        dumps = folder.isEmpty() ? null : new File(folder);
        waitMs = options.number("wait", HANG_WAIT_MS);
    }

    /** Runs until it is killed. */
    public static void main(String[] arguments) throws InterruptedException {
        Looper.prepareMainLooper();
        Options options = new Options(arguments);
        String gate = options.text("gate", "");
        if (!gate.isEmpty()) {
            Script.say("waits");
            while (!new File(gate).exists()) {
                Thread.sleep(PAUSE_MS);
            }
        }
        Config config = options.config().build();
        // With a Context the recorder may ask the system how processes ended.
        boolean knowsExits = options.text("exits", null) != null;
        if (!(knowsExits ? Loopbox.install(new Phone(options), config) : Loopbox.install(config)).isOn()) {
            Script.say("not installed");
            return;
        }
        Script.say("installed");
        new Killed(Looper.getMainLooper(), options).sendEmptyMessage(0);
        Looper.loop();
    }

    @Override
    public void handleMessage(Message message) {
        received++;
        Script.say("begin " + received + " " + System.nanoTime());
        if (dumps != null) {
            answer();
            Work.busy(received % LONG_EACH == 0 ? LONG_MS : SHORT_MS);
        } else if (received % CYCLE == 0) {
            hang();
        } else {
            Work.busy(received % LONG_EACH == 0 ? LONG_MS : SHORT_MS);
        }
        Script.say("end " + received + " " + System.nanoTime());
        sendEmptyMessage(received);
    }

    /**
     * Hangs: the thread computes, and then it sleeps. Only the first part takes a processor from the other
     * processes.
     */
    private void hang() {
        Work.busy(HANG_WORK_MS);
        try {
            Thread.sleep(waitMs);
        } catch (InterruptedException unexpected) {
            throw new AssertionError(unexpected);
        }
    }

    private void answer() {
        if (!new File(dumps, Integer.toString(dumped)).exists()) {
            return;
        }
        File report = Script.ask("asked " + dumped);
        Script.say("dumped " + dumped + " " + (report == null ? "none" : report.getPath()) + " in " + received);
        dumped++;
    }
}
