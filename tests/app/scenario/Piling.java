package scenario;

import android.os.Handler;
import android.os.Looper;
import com.example.shop.ShopHandler;
import com.othersdk.IdleHandlers;
import com.othersdk.Monitor;
import com.othersdk.Stats;
import io.loopbox.Loopbox;

/**
 * The recorder is paused and resumed, or uninstalled and installed, {@code rounds=} times, together with a
 * library that wraps the present hook whenever the library's own is not on top. {@code mode=} pause or
 * install; {@code other=} Printer or Observer; {@code apart=on}: the main thread has messages between the
 * rounds. Prints how many hooks the library has made, how many idle handlers the queue has before and after,
 * and how often the library's hooks are called for one message at the end.
 */
public final class Piling {
    private static final int NAMED_MS = 60;

    private final Options options;
    private final Looper looper = Looper.getMainLooper();
    private final ShopHandler shop = new ShopHandler(looper);
    private int made;
    private Monitor monitor;
    private Stats stats;

    private Piling(Options options) {
        this.options = options;
    }

    /** Runs the scenario and ends the process. */
    public static void main(String[] arguments) throws Exception {
        Looper.prepareMainLooper();
        new Piling(new Options(arguments)).play();
        Runtime.getRuntime().halt(0);
    }

    private void play() throws Exception {
        Script.install(options);
        wrap();
        // What the library has in the place passes on, which a message has to show.
        OddMessages.run(looper, 1_500);
        int idleBefore = IdleHandlers.count();
        int rounds = options.number("rounds", 40);
        final Exception[] failed = new Exception[1];
        Runnable all =
                new Runnable() {
                    @Override
                    public void run() {
                        try {
                            round();
                        } catch (Exception fault) {
                            failed[0] = fault;
                        }
                    }
                };
        if (options.is("apart", "on")) {
            for (int i = 0; i < rounds; i++) {
                new Handler(looper).post(all);
                shop.send(1, 1);
                OddMessages.runAll(looper);
            }
        } else {
            for (int i = 0; i < rounds; i++) {
                all.run();
            }
        }
        if (failed[0] != null) {
            throw failed[0];
        }
        int idleAfter = IdleHandlers.count();
        OddMessages.run(looper, 1_500);
        int before = calls();
        shop.send(2, NAMED_MS);
        OddMessages.runAll(looper);
        // Of the message and the one that leaves the loop, whose end a Printer does not see.
        Script.say("made " + made + " calls " + (calls() - before));
        Script.say("idle " + idleBefore + " " + idleAfter);
        Script.say("hook " + Hooks.hook());
        Script.dump("at the end");
    }

    private void round() throws Exception {
        if (options.is("mode", "install")) {
            Loopbox.uninstall();
            Script.install(options);
        } else {
            Loopbox.pause();
            Loopbox.resume();
        }
        wrap();
    }

    /** Wraps the recorder's hook, like a library that restores its place once a minute. */
    private void wrap() throws Exception {
        if (options.is("other", "Observer")) {
            if (stats == null || !stats.isInstalled()) {
                stats = Stats.wrap();
                made++;
            }
        } else if (monitor == null || Monitor.current(looper) != monitor) {
            monitor = Monitor.wrap(looper);
            made++;
        }
    }

    private int calls() {
        return options.is("other", "Observer") ? Stats.allStarts : Monitor.allStarts;
    }
}
