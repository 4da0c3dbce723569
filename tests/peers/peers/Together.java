package peers;

import android.os.Handler;
import android.os.Looper;
import android.os.Process;
import android.system.Os;
import android.system.OsConstants;
import android.util.Printer;
import com.github.moduth.blockcanary.BlockCanaryContext;
import com.github.moduth.blockcanary.Core;
import io.loopbox.Loopbox;
import io.loopbox.Status;
import io.reactivex.rxjava3.android.schedulers.AndroidSchedulers;
import java.io.File;
import java.lang.reflect.Field;
import java.util.concurrent.CountDownLatch;
import kotlin.coroutines.EmptyCoroutineContext;
import kotlinx.coroutines.android.HandlerDispatcherKt;
import scenario.Options;
import scenario.Script;
import scenario.SignalCatcher;

/**
 * Runs the recorder and SDKs in one process, one SDK after the other. For each SDK, a known number of
 * messages runs twice: while the recorder and the SDK both watch, and again when the recorder is uninstalled.
 * Each time, another message that does not come from the SDK runs in the middle.
 *
 * <p>Arguments: those of {@link Options}; {@code order=first} or {@code last}: whether the recorder is
 * installed before or after each SDK; {@code lose=on}: one message runs without any Printer. Prints which
 * messages each SDK has not seen or has seen twice, and where the count of the recorder differs from that of
 * Looper. While both watch, requests a report before and after the messages of each SDK. These reports are in
 * a folder with the SDK's name.
 */
public final class Together {
    private static final int MESSAGES = 300;
    private static final int PROBE_MS = 20;
    private static final int FOREIGN_AFTER = 100;
    private static final int LOST = 200;

    private final Handler main = new Handler(Looper.getMainLooper());
    private final Options options;
    private final Sdk[] sdks = {
        new LongTasks(), new Blocks(), new Rx(), new Coroutines(), new OkHttp(), new Bugsnag(), new Acra(),
        new Xcrash()
    };
    private int at;
    private Counted counted;
    private Printer kept;

    private Together(Options options) {
        this.options = options;
    }

    public static void main(String[] arguments) {
        Looper.prepareMainLooper();
        Counted.begin();
        Together together = new Together(new Options(arguments));
        together.main.post(together::begin);
        Looper.loop();
    }

    /** A library that sees messages, or that dispatches them. */
    private abstract class Sdk {
        final String name;

        Sdk(String name) {
            this.name = name;
        }

        abstract void install() throws Exception;

        abstract void uninstall() throws Exception;

        /** Called in each message. A library that dispatches messages counts it as seen. */
        void runs(int number) {}

        void post(Handler main, Tick tick) {
            main.post(tick);
        }

        /** Posts the messages, then {@code then}. */
        void postAll(Tick[] ticks, Runnable then) {
            for (Tick tick : ticks) {
                post(main, tick);
            }
            main.post(then);
        }

        /** Called after all messages. */
        void ended() throws Exception {}
    }

    /** Datadog's Printer, for which each message is long. */
    private final class LongTasks extends Sdk {
        private final Datadog.LongTask sdk = new Datadog.LongTask(0) {
            @Override void longTask(long ms, String target) {
                printed(target);
            }
        };

        LongTasks() {
            super("datadog");
        }

        @Override void install() throws Exception {
            sdk.install();
        }

        @Override void uninstall() throws Exception {
            sdk.uninstall();
        }
    }

    /** BlockCanary's Printer. */
    private final class Blocks extends Sdk {
        private final Core core = new Core(Peer.context, new BlockCanaryContext() {
            @Override public String providePath() {
                return "/blockcanary/";
            }
        });

        Blocks() {
            super("blockcanary");
            core.onEnd(Together.this::printed);
        }

        @Override void install() {
            core.start();
        }

        @Override void uninstall() {
            core.stop();
        }
    }

    /** A library that posts messages. */
    private abstract class Dispatcher extends Sdk {
        Dispatcher(String name) {
            super(name);
        }

        @Override void install() throws Exception {}

        @Override void uninstall() throws Exception {}

        @Override void runs(int number) {
            counted.ran(number);
        }
    }

    private final class Rx extends Dispatcher {
        Rx() {
            super("rx");
        }

        @Override void post(Handler main, Tick tick) {
            AndroidSchedulers.mainThread().scheduleDirect(tick);
        }
    }

    private final class Coroutines extends Dispatcher {
        Coroutines() {
            super("coroutines");
        }

        @Override void post(Handler main, Tick tick) {
            HandlerDispatcherKt.from(main).dispatch(EmptyCoroutineContext.INSTANCE, tick);
        }
    }

    /**
     * OkHttp downloads the numbers on its own thread and posts a message for each; main downloads one itself.
     */
    private final class OkHttp extends Dispatcher {
        private Downloads sdk;

        OkHttp() {
            super("okhttp");
        }

        @Override void install() throws Exception {
            sdk = new Downloads();
        }

        @Override void uninstall() throws Exception {
            sdk.stop();
        }

        @Override void runs(int number) {
            super.runs(number);
            if (number == FOREIGN_AFTER && sdk.first() != 0) {
                throw new AssertionError("main has downloaded something else");
            }
        }

        /**
         * Main waits until OkHttp's thread has posted all messages. If main's queue were empty before that,
         * the poll hook would begin a message that it takes back later.
         */
        @Override void postAll(Tick[] ticks, Runnable then) {
            CountDownLatch posted = new CountDownLatch(1);
            sdk.download(ticks.length, number -> main.post(ticks[number]), posted::countDown);
            try {
                posted.await();
            } catch (InterruptedException unexpected) {
                throw new AssertionError(unexpected);
            }
            main.post(then);
        }
    }

    /** Each message leaves a breadcrumb. */
    private final class Bugsnag extends Sdk {
        private Crumbs sdk;

        Bugsnag() {
            super("bugsnag");
        }

        @Override void install() {
            sdk = new Crumbs(app(), Together.this::printed);
        }

        @Override void uninstall() {}

        @Override void runs(int number) {
            sdk.leave(new Tick(number, null).toString());
        }
    }

    /** Each message is counted in the data of a report. */
    private final class Acra extends Sdk {
        private CrashReports sdk;

        Acra() {
            super("acra");
        }

        @Override void install() {
            sdk = new CrashReports(app());
        }

        @Override void uninstall() {
            sdk.stop();
        }

        @Override void runs(int number) {
            sdk.count(new Tick(number, null).toString());
        }

        @Override void ended() {
            if (!sdk.isHandler()) {
                throw new AssertionError("another one handles exceptions");
            }
            sdk.report(counted::reported);
        }
    }

    /** In one of the messages the process gets SIGQUIT, and the message waits for xCrash's file. */
    private final class Xcrash extends Dispatcher {
        private Tombstones sdk;
        private int signals;

        Xcrash() {
            super("xcrash");
        }

        @Override void install() {
            // xCrash asks the system before it reports an ANR.
            Peer.context.hangsAtOnce();
            sdk = new Tombstones(new File(options.text("dir", ".")));
            sdk.install();
        }

        @Override void runs(int number) {
            super.runs(number);
            if (number != FOREIGN_AFTER) {
                return;
            }
            try {
                SignalCatcher.await();
                Os.kill(Process.myPid(), OsConstants.SIGQUIT);
            } catch (Exception failed) {
                throw new AssertionError(failed);
            }
            sdk.await(++signals);
        }
    }

    private AppContext app() {
        return new AppContext(new File(options.text("dir", ".")));
    }

    private void begin() {
        try {
            if (at == sdks.length) {
                Script.say("end");
                Runtime.getRuntime().halt(0);
            }
            if (options.is("order", "first")) {
                ours();
                sdks[at].install();
            } else {
                sdks[at].install();
                ours();
            }
        } catch (Exception failed) {
            throw new AssertionError(failed);
        }
        main.postDelayed(this::probe, PROBE_MS);
    }

    private void ours() {
        // One folder does not keep the reports of all.
        File folder = new File(options.text("dir", "."), sdks[at].name);
        folder.mkdir();
        if (!Loopbox.install(options.config(folder).build()).isOn()) {
            throw new AssertionError(Loopbox.status().toString());
        }
    }

    /**
     * Waits until the recorder's hook is in place, also after another Printer had displaced it. The messages
     * that this app counts begin after that.
     */
    private void probe() {
        Printer printer = printer();
        boolean isDisplaced = options.is("hook", "PRINTER") && !printer.getClass().getName().startsWith("io.loopbox.");
        if (isDisplaced || !isOn()) {
            main.postDelayed(this::probe, PROBE_MS);
            return;
        }
        main.post(this::both);
    }

    private static boolean isOn() {
        for (Status.Part part : Loopbox.status().getParts()) {
            if (part.getName().equals("hook")) {
                return part.isOn();
            }
        }
        return false;
    }

    private static Printer printer() {
        try {
            Field logging = Looper.class.getDeclaredField("mLogging");
            logging.setAccessible(true);
            return (Printer) logging.get(Looper.getMainLooper());
        } catch (ReflectiveOperationException gone) {
            throw new AssertionError(gone);
        }
    }

    private void printed(String line) {
        if (counted != null) {
            counted.printed(line);
        }
    }

    private void both() {
        Script.ask("begin " + sdks[at].name);
        messages(this::seenByBoth);
    }

    private void messages(Runnable then) {
        counted = new Counted(MESSAGES);
        Tick[] ticks = new Tick[MESSAGES];
        for (int number = 0; number < MESSAGES; number++) {
            ticks[number] = new Tick(number, this::tick);
        }
        sdks[at].postAll(ticks, then);
    }

    private void tick(int number) {
        counted.step("number " + number);
        sdks[at].runs(number);
        if (number == FOREIGN_AFTER) {
            main.postAtFrontOfQueue(new Foreign());
        }
        if (options.is("lose", "on")) {
            lose(number);
        }
    }

    /** A message of other code, posted independently of the SDK. */
    private static final class Foreign implements Runnable {
        @Override public void run() {}
    }

    /** Lets the next message run without any Printer. */
    private void lose(int number) {
        if (number == LOST - 1) {
            kept = printer();
            Looper.getMainLooper().setMessageLogging(null);
        } else if (number == LOST) {
            Looper.getMainLooper().setMessageLogging(kept);
        }
    }

    private void seenByBoth() {
        counted.step("the end");
        Script.ask("end " + sdks[at].name);
        ended();
        Script.say("both " + sdks[at].name + " " + counted.seen());
        Script.say("recorded " + sdks[at].name + " " + counted.recorded());
        Script.say("foreign " + sdks[at].name + " " + counted.foreign());
        Loopbox.uninstall();
        // From the next message on it is gone for sure.
        main.post(() -> messages(this::seenAlone));
    }

    private void ended() {
        try {
            sdks[at].ended();
        } catch (Exception failed) {
            throw new AssertionError(failed);
        }
    }

    private void seenAlone() {
        ended();
        try {
            Script.say("alone " + sdks[at].name + " " + counted.seen());
            counted = null;
            sdks[at].uninstall();
        } catch (Exception failed) {
            throw new AssertionError(failed);
        }
        at++;
        main.post(this::begin);
    }
}
