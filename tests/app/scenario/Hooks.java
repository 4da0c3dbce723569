package scenario;

import android.app.ActivityThread;
import android.os.Handler;
import android.os.Looper;
import android.os.MessageQueue;
import android.util.Printer;
import com.example.shop.ShopHandler;
import com.othersdk.Monitor;
import com.othersdk.Stats;
import io.loopbox.Config;
import io.loopbox.Loopbox;
import io.loopbox.MonitorConfig;
import io.loopbox.Status;
import java.io.File;

/**
 * The hooks among other libraries, and odd messages. {@code mode=} is the scenario; the arguments of {@link
 * Options} apply. Each scenario ends with a report that the app requests, and prints on standard output what
 * only the app can know.
 */
public final class Hooks {
    /**
     * How long most messages of the scenarios run, in milliseconds: long enough that the recorder keeps them
     * by name.
     */
    private static final int NAMED_MS = 60;

    private final Looper looper = Looper.getMainLooper();
    private final Handler handler = new Handler(looper);
    private final ShopHandler shop = new ShopHandler(looper);
    private final Options options;

    private Hooks(Options options) {
        this.options = options;
    }

    /** Runs one scenario and ends the process. */
    public static void main(String[] arguments) throws Exception {
        Looper.prepareMainLooper();
        Options options = new Options(arguments);
        Hooks hooks = new Hooks(options);
        hooks.run(options.text("mode", "plain"));
        Runtime.getRuntime().halt(0);
    }

    private void run(String mode) throws Exception {
        if ("before".equals(mode)) {
            before();
        } else if ("after".equals(mode)) {
            after();
        } else if ("words".equals(mode)) {
            words();
        } else if ("displaced".equals(mode)) {
            displaced();
        } else if ("displaced-busy".equals(mode)) {
            displacedBusy();
        } else if ("displaced-unseen".equals(mode)) {
            displacedUnseen();
        } else if ("displaced-twice".equals(mode)) {
            displacedTwice();
        } else if ("nulled".equals(mode)) {
            nulled();
        } else if ("fight".equals(mode)) {
            fight();
        } else if (mode.startsWith("observer-")) {
            new Observers(options).run(mode);
        } else if ("again".equals(mode)) {
            again();
        } else if ("pending".equals(mode)) {
            pending();
        } else if ("none".equals(mode)) {
            none();
        } else if ("paused".equals(mode)) {
            paused();
        } else if ("paused-displaced".equals(mode)) {
            pausedDisplaced();
        } else if ("config".equals(mode)) {
            config();
        } else {
            odd(mode);
        }
    }

    private void install() {
        Script.install(options);
    }

    private static void dump(String reason) {
        Script.dump(reason);
    }

    /** Another library's Printer was there first. */
    private void before() throws Exception {
        Monitor other = Monitor.replace(looper);
        install();
        shop.send(1, NAMED_MS);
        shop.send(2, NAMED_MS);
        OddMessages.runAll(looper);
        dump("before");
        Script.say("other " + other.starts + " " + other.ends);
        Loopbox.uninstall();
        shop.send(3, NAMED_MS);
        OddMessages.runAll(looper);
        Script.say("other " + other.starts + " " + other.ends);
        Script.say("restored " + (Monitor.current(looper) == other));
    }

    /** Another library's Printer wraps the recorder's. */
    private void after() throws Exception {
        install();
        Monitor other = Monitor.wrap(looper);
        shop.send(1, NAMED_MS);
        OddMessages.runAll(looper);
        dump("after");
        Script.say("other " + other.starts + " " + other.ends);
        Loopbox.uninstall();
        shop.send(2, NAMED_MS);
        OddMessages.runAll(looper);
        Script.say("other " + other.starts + " " + other.ends);
        Script.say("restored " + (Monitor.current(looper) == other));
    }

    /** The Looper prints a vendor's variant of the text. */
    private void words() throws Exception {
        install();
        Monitor.wrapInOtherWords(looper);
        shop.send(1, NAMED_MS);
        shop.send(2, NAMED_MS);
        OddMessages.runAll(looper);
        dump("words");
    }

    /** Another library replaces the recorder's Printer later, and passes no lines on. */
    private void displaced() throws Exception {
        install();
        shop.send(1, NAMED_MS);
        OddMessages.runAll(looper);
        Monitor other = Monitor.replace(looper);
        beIdle(12);
        shop.send(2, NAMED_MS);
        OddMessages.runAll(looper);
        dump("displaced");
        Script.say("other " + other.starts + " " + other.ends);
        Loopbox.uninstall();
        Script.say("restored " + (Monitor.current(looper) == other));
    }

    /**
     * Another library replaces the recorder's Printer in a message, and the queue never runs empty from then
     * on.
     */
    private void displacedBusy() throws Exception {
        install();
        shop.send(1, NAMED_MS);
        final Monitor[] other = new Monitor[1];
        final boolean[] idle = new boolean[1];
        final int[] seen = new int[1];
        final OddMessages.Stop stop = new OddMessages.Stop();
        MessageQueue.IdleHandler watch =
                new MessageQueue.IdleHandler() {
                    @Override
                    public boolean queueIdle() {
                        idle[0] = true;
                        return true;
                    }
                };
        Runnable busy =
                new Runnable() {
                    @Override
                    public void run() {
                        if (other[0] == null) {
                            other[0] = Monitor.replace(looper);
                        }
                        Work.busy(20);
                        if (!hook().contains("armed again")) {
                            handler.post(this);
                            return;
                        }
                        seen[0] = other[0].starts;
                        shop.send(2, NAMED_MS);
                        handler.post(stop);
                    }
                };
        Looper.myQueue().addIdleHandler(watch);
        handler.post(busy);
        OddMessages.runUntil(looper, stop);
        Script.say("idle " + idle[0]);
        Script.say("passed on " + (other[0].starts - seen[0]));
        dump("displaced");
        Loopbox.uninstall();
        Script.say("restored " + (Monitor.current(looper) == other[0]));
    }

    /**
     * Another library replaces the recorder's Printer. The recorder cannot read which Printer is set, because
     * its configuration forbids reflection.
     */
    private void displacedUnseen() {
        install();
        shop.send(1, NAMED_MS);
        OddMessages.runAll(looper);
        Monitor.replace(looper);
        beIdle(12);
        shop.send(2, NAMED_MS);
        OddMessages.runAll(looper);
        dump("displaced");
    }

    /**
     * Another library replaces the recorder's Printer. When the recorder has set its Printer again, the
     * library replaces it a second time, before the next check is due.
     */
    private void displacedTwice() throws Exception {
        install();
        shop.send(1, NAMED_MS);
        OddMessages.runAll(looper);
        Printer ours = Monitor.current(looper);
        Monitor.replace(looper);
        beIdle(2);
        Script.say("back " + (Monitor.current(looper) == ours));
        Runnable take =
                new Runnable() {
                    @Override
                    public void run() {
                        Monitor.replace(looper);
                    }
                };
        final Printer back = ours;
        Runnable giveBack =
                new Runnable() {
                    @Override
                    public void run() {
                        sayHook();
                        looper.setMessageLogging(back);
                    }
                };
        handler.post(take);
        for (int pause = 100; pause <= 400; pause += 100) {
            shop.sendEmptyMessageDelayed(2, pause);
        }
        handler.postDelayed(giveBack, 500);
        shop.sendEmptyMessageDelayed(3, 600);
        OddMessages.run(looper, 700);
        sayHook();
        dump("displaced");
    }

    private static void sayHook() {
        Script.say("hook " + hook());
    }

    /** The state of the hook in the status: whether it is on, and how it works. */
    static String hook() {
        for (Status.Part part : Loopbox.status().getParts()) {
            if ("hook".equals(part.getName())) {
                return part.isOn() + " " + part.getDetail();
            }
        }
        throw new AssertionError("the recorder is off");
    }

    /** Another library sets null as the Printer, as WebView does when its tracing ends. */
    private void nulled() throws Exception {
        install();
        looper.setMessageLogging(null);
        beIdle(12);
        shop.send(2, NAMED_MS);
        OddMessages.runAll(looper);
        dump("nulled");
    }

    /** Another library repeatedly sets its own Printer. */
    private void fight() throws Exception {
        install();
        for (int round = 0; round < 40; round++) {
            Monitor.replace(looper);
            beIdle(2);
        }
        shop.send(1, NAMED_MS);
        OddMessages.runAll(looper);
        dump("fight");
    }

    /** The recorder is uninstalled in the middle of a message, and installed again. */
    private void again() throws Exception {
        install();
        handler.post(
                new Runnable() {
                    @Override
                    public void run() {
                        Loopbox.uninstall();
                        Script.say("dump without recorder " + Script.ask("none"));
                    }
                });
        shop.send(1, NAMED_MS);
        OddMessages.runAll(looper);
        install();
        Script.say("twice " + Loopbox.install(options.config().build()).isOn());
        shop.send(2, NAMED_MS);
        OddMessages.runAll(looper);
        dump("again");
    }

    /** A queued message whose obj is a user's secret. */
    private void pending() {
        install();
        handler.sendMessageDelayed(handler.obtainMessage(5, 6, 0, new OddMessages.Secret()), 3_600_000);
        handler.postDelayed(new com.example.shop.Scroll(), 7_200_000);
        shop.send(1, NAMED_MS);
        OddMessages.runAll(looper);
        dump("pending");
    }

    /**
     * The recorder sets no Printer and no Observer. The second message is long enough for its stacks to be
     * kept.
     */
    private void none() throws Exception {
        install();
        Script.say("printer " + Monitor.current(looper) + ", observer " + Stats.current());
        OddMessages.run(looper, 700);
        shop.send(1, NAMED_MS);
        shop.send(2, 4_000);
        OddMessages.run(looper, 5_500);
        Loopbox.pause();
        sayHook();
        Loopbox.resume();
        dump("none");
    }

    /**
     * The app pauses the recorder, and a message runs that the recorder does not see. With {@code resume=on}
     * the app resumes the recorder, and another message runs.
     */
    private void paused() throws Exception {
        install();
        shop.send(1, NAMED_MS);
        OddMessages.runAll(looper);
        Loopbox.pause();
        shop.send(2, 400);
        OddMessages.runAll(looper);
        if (options.is("resume", "on")) {
            Loopbox.resume();
            shop.send(3, NAMED_MS);
            OddMessages.runAll(looper);
        }
        dump("paused");
    }

    /** Another library displaces the hook twice. The app pauses the recorder and lets it go on. */
    private void pausedDisplaced() throws Exception {
        install();
        for (int round = 0; round < 2; round++) {
            looper.setMessageLogging(null);
            shop.send(1, NAMED_MS);
            beIdle(12);
        }
        sayHook();
        Loopbox.pause();
        OddMessages.runAll(looper);
        sayHook();
        Loopbox.resume();
        OddMessages.runAll(looper);
        sayHook();
        shop.send(2, NAMED_MS);
        OddMessages.runAll(looper);
        dump("paused");
    }

    /**
     * Tries impossible values of a configuration. Then installs the recorder with a configuration by which it
     * keeps only the names of component messages.
     */
    private void config() {
        File here = new File(options.text("dir", "."));
        refuse(new Config.Builder(here).detailMs(300));
        refuse(new Config.Builder(here).hook(Config.Hook.OBSERVER).hiddenApi(Config.HiddenApi.NONE));
        refuse(new Config.Builder(here).hook(Config.Hook.NONE).watchInput(true));
        refuse(new Config.Builder(null));
        try {
            new Config.Builder(here).slots(5);
        } catch (IllegalArgumentException refused) {
            Script.say("refused: " + refused.getMessage());
        }
        for (long[] levels : new long[][] {{}, {19}, {100, 100}}) {
            try {
                new MonitorConfig.Builder().levelsMs(levels);
            } catch (IllegalArgumentException refused) {
                Script.say("refused: " + refused.getMessage());
            }
        }
        try {
            new MonitorConfig.Builder().blockMs(0).blockMs(49);
        } catch (IllegalArgumentException refused) {
            Script.say("refused: " + refused.getMessage());
        }
        Config.Builder builder = options.config().allNames(false).appVersion("5.2.1 (50201)");
        builder.annotate("user", "u-17").annotate("track", "beta");
        Script.say("installed " + Loopbox.install(builder.build()).isOn());
        shop.send(1, NAMED_MS);
        new ActivityThread.H(looper).sendEmptyMessage(ActivityThread.H.EXECUTE_TRANSACTION);
        OddMessages.runAll(looper);
        dump("config");
        Loopbox.uninstall();
        Config.Builder nowhere = new Config.Builder(new File("/proc/nowhere"));
        Script.say("installed nowhere " + Loopbox.install(nowhere.build()).isOn());
    }

    private static void refuse(Config.Builder builder) {
        try {
            builder.build();
        } catch (IllegalArgumentException refused) {
            Script.say("refused: " + refused.getMessage());
        }
    }

    private void odd(String mode) {
        install();
        new OddMessages(looper).run(mode);
        dump(mode);
    }

    /** Lets the queue run empty {@code times} times, at least 30 ms apart. */
    private void beIdle(int times) {
        for (int i = 0; i < times; i++) {
            OddMessages.beIdle(looper);
        }
    }
}
