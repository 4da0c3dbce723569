package peers;

import android.os.Handler;
import android.os.Looper;
import android.util.Printer;
import com.github.moduth.blockcanary.BlockCanaryContext;
import com.github.moduth.blockcanary.Core;
import io.loopbox.Loopbox;
import io.loopbox.Status;
import io.reactivex.rxjava3.android.schedulers.AndroidSchedulers;
import java.lang.reflect.Field;
import java.util.concurrent.atomic.AtomicInteger;
import kotlin.coroutines.EmptyCoroutineContext;
import kotlinx.coroutines.android.HandlerDispatcherKt;
import scenario.Options;
import scenario.Script;

/**
 * The recorder and one SDK after the other in one process: a known number of messages while both watch, and
 * again when the recorder is gone. Arguments: those of {@link Options}; {@code order=first} or {@code last}:
 * whether the recorder comes before the SDKs. Prints how many messages each SDK has seen, and has a report of
 * ours before and after them.
 */
public final class Together {
    private static final int MESSAGES = 300;
    private static final int PROBE_MS = 20;

    private final Handler main = new Handler(Looper.getMainLooper());
    private final Options options;
    private final Sdk[] sdks = {new LongTasks(), new Blocks(), new Rx(), new Coroutines()};
    private int at;

    private Together(Options options) {
        this.options = options;
    }

    public static void main(String[] arguments) {
        Looper.prepareMainLooper();
        Together together = new Together(new Options(arguments));
        together.main.post(together::begin);
        Looper.loop();
    }

    /** One of the messages. */
    static final class Tick implements Runnable {
        static final AtomicInteger RUN = new AtomicInteger();

        @Override public void run() {
            RUN.incrementAndGet();
        }
    }

    /** What sees messages, or has them run. */
    private abstract static class Sdk {
        final String name;

        Sdk(String name) {
            this.name = name;
        }

        abstract void install() throws Exception;

        abstract void uninstall() throws Exception;

        /** How many ticks it has seen or run since. */
        abstract int seen();

        void post(Handler main, Tick tick) {
            main.post(tick);
        }
    }

    /** Datadog's Printer, for which each message is long. */
    private static final class LongTasks extends Sdk {
        private final AtomicInteger ticks = new AtomicInteger();
        private final Datadog.LongTask sdk = new Datadog.LongTask(0) {
            @Override void longTask(long ms, String target) {
                if (target.contains(Tick.class.getName())) {
                    ticks.incrementAndGet();
                }
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

        @Override int seen() {
            return ticks.getAndSet(0);
        }
    }

    /** BlockCanary's Printer. */
    private static final class Blocks extends Sdk {
        private final Core core = new Core(Peer.context, new BlockCanaryContext() {
            @Override public String providePath() {
                return "/blockcanary/";
            }
        });
        private final AtomicInteger ticks = core.count(Tick.class.getName());

        Blocks() {
            super("blockcanary");
        }

        @Override void install() {
            core.start();
        }

        @Override void uninstall() {
            core.stop();
        }

        @Override int seen() {
            return ticks.getAndSet(0);
        }
    }

    /** A library that posts messages. */
    private abstract static class Dispatcher extends Sdk {
        Dispatcher(String name) {
            super(name);
        }

        @Override void install() {}

        @Override void uninstall() {}

        @Override int seen() {
            return Tick.RUN.getAndSet(0);
        }
    }

    private static final class Rx extends Dispatcher {
        Rx() {
            super("rx");
        }

        @Override void post(Handler main, Tick tick) {
            AndroidSchedulers.mainThread().scheduleDirect(tick);
        }
    }

    private static final class Coroutines extends Dispatcher {
        Coroutines() {
            super("coroutines");
        }

        @Override void post(Handler main, Tick tick) {
            HandlerDispatcherKt.from(main).dispatch(EmptyCoroutineContext.INSTANCE, tick);
        }
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
        if (!Loopbox.install(options.config().build()).isOn()) {
            throw new AssertionError(Loopbox.status().toString());
        }
    }

    /** A message: it is in the one after that, in which a Printer that another has displaced is back. */
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

    private void both() {
        Script.ask("begin " + sdks[at].name);
        messages(this::seenByBoth);
    }

    private void messages(Runnable then) {
        sdks[at].seen();
        for (int i = 0; i < MESSAGES; i++) {
            sdks[at].post(main, new Tick());
        }
        main.post(then);
    }

    private void seenByBoth() {
        Script.ask("end " + sdks[at].name);
        Script.say("both " + sdks[at].name + " " + sdks[at].seen());
        Loopbox.uninstall();
        // From the next message on it is gone for sure.
        main.post(() -> messages(this::seenAlone));
    }

    private void seenAlone() {
        try {
            Script.say("alone " + sdks[at].name + " " + sdks[at].seen());
            sdks[at].uninstall();
        } catch (Exception failed) {
            throw new AssertionError(failed);
        }
        at++;
        main.post(this::begin);
    }
}
