package scenario;

import android.os.HandlerThread;
import android.os.Looper;
import com.example.shop.ShopHandler;
import com.othersdk.Stats;
import io.loopbox.Loopbox;

/**
 * Our observer together with others. Each scenario ends with a report, and with the other observer's count.
 */
final class Observers {
    private static final int NAMED_MS = 60;

    private final Looper looper = Looper.getMainLooper();
    private final ShopHandler shop = new ShopHandler(looper);
    private final Options options;

    Observers(Options options) {
        this.options = options;
    }

    void run(String mode) throws Exception {
        if ("observer-before".equals(mode)) {
            before();
        } else if ("observer-after".equals(mode)) {
            after();
        } else if ("observer-nulled".equals(mode)) {
            nulled();
        } else if ("observer-displaced".equals(mode)) {
            displaced();
        } else if ("observer-busy".equals(mode)) {
            busy();
        } else if ("observer-circle".equals(mode)) {
            circle();
        } else if ("observer-null".equals(mode)) {
            withoutMessages();
        } else {
            throw new IllegalArgumentException("no such mode: " + mode);
        }
    }

    /** A vendor's observer was there first, and other threads have Loopers too. */
    private void before() throws Exception {
        Stats stats = Stats.install();
        Script.install(options);
        HandlerThread other = new HandlerThread("other-looper");
        other.start();
        new ShopHandler(other.getLooper()).send(77, NAMED_MS);
        shop.send(1, NAMED_MS);
        run(2);
        other.quitSafely();
        other.join();
        Script.dump("before");
        leave(stats);
    }

    /** Another observer comes later, and passes its calls on to ours. */
    private void after() throws Exception {
        Script.install(options);
        Stats stats = Stats.wrap();
        run(1);
        Script.dump("after");
        leave(stats);
    }

    /** Another library removes whatever observer is set. */
    private void nulled() throws Exception {
        Script.install(options);
        run(1);
        Stats.clear();
        awaitArmed();
        run(2);
        Script.dump("nulled");
        Loopbox.uninstall();
        Script.say("left " + Stats.current());
    }

    /** Another observer comes later and replaces ours. */
    private void displaced() throws Exception {
        Script.install(options);
        run(1);
        Stats stats = Stats.install();
        awaitArmed();
        stats.starts = 0;
        stats.ends = 0;
        run(2);
        Script.dump("displaced");
        leave(stats);
    }

    /** Another observer replaces ours, and the queue never runs empty from then on. */
    private void busy() throws Exception {
        Script.install(options);
        run(1);
        Stats stats = Stats.install();
        while (!isArmedAgain()) {
            run(3);
        }
        run(2);
        Script.dump("displaced");
        Loopbox.uninstall();
        Script.say("restored " + stats.isInstalled());
    }

    /**
     * Another observer replaces ours. The recorder then sets a new hook, which passes calls on to that
     * observer. The observer passes calls on to our hooks: first to the old one, then to the new one.
     */
    private void circle() throws Exception {
        Script.install(options);
        Object first = Stats.current();
        Stats stats = Stats.install();
        awaitArmed();
        stats.passOnTo(first);
        run(1);
        stats.passOnTo(Stats.current());
        run(2);
        Script.dump("circle");
    }

    /**
     * Another observer comes later and passes null in place of the message at the end of a dispatch, so ours
     * fails there.
     */
    private void withoutMessages() throws Exception {
        Script.install(options);
        run(1);
        Stats.wrap().keepMessages();
        run(2);
        // Main waits for messages, for longer than a hang.
        OddMessages.run(looper, 1_500);
        Script.dump("null");
    }

    private void leave(Stats stats) throws Exception {
        Loopbox.uninstall();
        run(3);
        Script.say("stats " + stats.starts + " " + stats.ends + " " + stats.strangeTokens);
        Script.say("restored " + stats.isInstalled());
    }

    private void run(int what) {
        shop.send(what, NAMED_MS);
        OddMessages.runAll(looper);
    }

    /** Runs the loop until the recorder has noticed that it is displaced. */
    private void awaitArmed() {
        while (!isArmedAgain()) {
            OddMessages.beIdle(looper);
        }
    }

    private static boolean isArmedAgain() {
        return Loopbox.status().toString().contains("armed again");
    }
}
