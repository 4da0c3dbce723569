package scenario;

import android.os.Handler;
import android.os.Looper;
import android.os.SystemClock;
import io.loopbox.Config;
import io.loopbox.DumpCallback;
import io.loopbox.FirstFileListener;
import io.loopbox.Loopbox;
import io.loopbox.Report;
import java.io.File;
import java.util.concurrent.CountDownLatch;

/**
 * Several listeners of one app: two from the configuration, and four that libraries add. Of these four, one
 * is added twice, one is removed again, and one does not return before the file {@code gate=} exists. Each
 * listener prints what it is called with. The callback of the first report does not return before that file
 * exists either. With {@code interrupts=yes} a listener of the configuration leaves its thread interrupted
 * when its next call is due. In the next call it prints whether that call was delayed by the listener that
 * does not return. Other arguments are those of {@link Options}.
 */
public final class Listening implements FirstFileListener {
    /** How long a listener of the configuration waits for those that libraries add. */
    private static final long OTHERS_MS = 2_000;

    private static final CountDownLatch COMPLETE = new CountDownLatch(1);

    private final String name;
    private final String gate;

    private Listening(String name, String gate) {
        this.name = name;
        this.gate = gate;
    }

    /** Runs until it is killed. */
    public static void main(String[] arguments) {
        Looper.prepareMainLooper();
        final Options options = new Options(arguments);
        final String gate = options.text("gate", "");
        Listening added = new Listening("added", null);
        Loopbox.addListener(added);
        Loopbox.addListener(added);
        Loopbox.addListener(new Listening("slow", gate));
        Listening removed = new Listening("removed", null);
        Loopbox.addListener(removed);
        Config.Builder config = options.config();
        config.listener(new Listening("lost", null)).listener(null);
        config.listener(new Listening("one", null)).listener(new Listening("two", null));
        if (options.is("interrupts", "yes")) {
            config.listener(new Interrupting());
        }
        if (!Loopbox.install(config.build()).isOn()) {
            throw new AssertionError("not installed");
        }
        Loopbox.removeListener(removed);
        Loopbox.addListener(new Listening("late", null));
        new Handler(Looper.getMainLooper())
                .post(
                        new Runnable() {
                            @Override
                            public void run() {
                                Loopbox.dumpAsync("alpha", slowAnswer(gate));
                                Loopbox.dumpAsync("beta", null);
                            }
                        });
        Looper.loop();
    }

    private static DumpCallback slowAnswer(final String gate) {
        return new DumpCallback() {
            @Override
            public void onDumped(Report report) {
                Script.say("answer");
                await(gate);
            }
        };
    }

    private static void await(String gate) {
        while (!new File(gate).exists()) {
            SystemClock.sleep(5);
        }
    }

    @Override
    public void onFirstFile(Report report) {
        heard("first", report);
    }

    @Override
    public void onReport(Report report) {
        heard("complete", report);
    }

    private void heard(String what, Report report) {
        Script.say(name + " " + what + " " + report.getLabel());
        if (name.equals("added") && what.equals("complete")) {
            COMPLETE.countDown();
        }
        if (gate != null) {
            await(gate);
        }
    }

    private static final class Interrupting implements FirstFileListener {
        private long interruptedMs;

        @Override
        public void onFirstFile(Report report) {
            if (interruptedMs != 0) {
                return;
            }
            try {
                COMPLETE.await();
            } catch (InterruptedException unexpected) {
                throw new AssertionError(unexpected);
            }
            // All are notified under one lock: when that is free, the next call of this one is in the queue.
            Loopbox.removeListener(this);
            interruptedMs = SystemClock.uptimeMillis();
            Thread.currentThread().interrupt();
        }

        @Override
        public void onReport(Report report) {
            if (report.getLabel().equals("alpha")) {
                Script.say("waited " + (SystemClock.uptimeMillis() - interruptedMs >= OTHERS_MS));
            }
        }
    }
}
