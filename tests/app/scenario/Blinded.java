package scenario;

import android.os.Handler;
import android.os.Looper;
import android.os.SystemClock;
import android.util.Printer;
import com.example.shop.ShopHandler;
import com.othersdk.IdleHandlers;
import com.othersdk.Monitor;
import com.othersdk.Stats;
import io.loopbox.Loopbox;
import java.lang.reflect.Field;

/**
 * Another library replaces the hook and the queue's idle handlers. From then on nothing on the main thread
 * calls the recorder. {@code mode=}: how the library does this; {@code other=} Printer or Observer: the hook
 * that the library sets; {@code work=} busy or sleep: what the messages after that do. After these messages
 * another thread of the app requests the status and a report.
 */
public final class Blinded {
    private static final int MESSAGES = 8;
    private static final int MESSAGE_MS = 150;

    /** How long main rests, in ms. The monitor checks main half a second after the last message of main. */
    private static final int AT_REST_MS = 1_500;

    private final Options options;
    private final Looper looper = Looper.getMainLooper();
    private final Handler handler = new Handler(looper);
    private final Other other;
    private Object ours;

    private Blinded(Options options) {
        this.options = options;
        other = options.is("other", "Observer") ? new Observer() : new ByPrinter();
    }

    /** Runs the scenario and ends the process. */
    public static void main(String[] arguments) throws Exception {
        Looper.prepareMainLooper();
        final Options options = new Options(arguments);
        if (options.is("mode", "adopted")) {
            adopted(options);
        } else {
            new Blinded(options).begin();
        }
        Looper.loop();
    }

    /**
     * The message in which the recorder is installed is the last one for a long time. The idle handler that
     * would show the recorder the end of this message is gone.
     */
    private static void adopted(final Options options) {
        new Handler(Looper.getMainLooper())
                .post(
                        new Step() {
                            @Override
                            void step() throws Exception {
                                Script.install(options);
                                IdleHandlers.replace();
                            }
                        });
        new Thread("asker") {
            @Override
            public void run() {
                SystemClock.sleep(4 * AT_REST_MS);
                Script.say("hook " + Hooks.hook());
                Loopbox.dump("at the end");
                Runtime.getRuntime().halt(0);
            }
        }.start();
    }

    private void begin() throws Exception {
        Script.install(options);
        Script.awaitSampler();
        final String mode = options.text("mode", "replaced");
        handler.post(
                new Step() {
                    @Override
                    void step() throws Exception {
                        IdleHandlers.replace();
                        if ("nulled".equals(mode)) {
                            other.set(null);
                        } else if (mode.startsWith("stops")) {
                            other.wrap();
                        } else {
                            other.replace();
                        }
                    }
                });
        if ("fought".equals(mode) || "back".equals(mode)) {
            handler.postDelayed(
                    new Step() {
                        @Override
                        void step() throws Exception {
                            // Ours has come back meanwhile, and may not come again for a minute.
                            ours = other.current();
                            Script.say("came back " + Hooks.hook());
                            other.replace();
                            IdleHandlers.replace();
                        }
                    },
                    AT_REST_MS);
        } else if ("stops".equals(mode)) {
            handler.postDelayed(
                    new Step() {
                        @Override
                        void step() throws Exception {
                            other.keepToItself();
                            IdleHandlers.replace();
                        }
                    },
                    AT_REST_MS);
        }
        if ("stops-at-rest".equals(mode)) {
            new Thread("other") {
                @Override
                public void run() {
                    SystemClock.sleep(AT_REST_MS);
                    other.keepToItself();
                    try {
                        IdleHandlers.replace();
                    } catch (ReflectiveOperationException refused) {
                        throw new AssertionError(refused);
                    }
                }
            }.start();
        }
        handler.postDelayed(
                new Runnable() {
                    @Override
                    public void run() {
                        work(1);
                    }
                },
                2 * AT_REST_MS);
    }

    private void work(final int nth) {
        new Message(nth).send();
        handler.postDelayed(
                new Runnable() {
                    @Override
                    public void run() {
                        if (nth < MESSAGES) {
                            work(nth + 1);
                        } else {
                            end();
                        }
                    }
                },
                2 * MESSAGE_MS);
    }

    /** A message that the recorder should keep by name. */
    private final class Message {
        private final int nth;

        Message(int nth) {
            this.nth = nth;
        }

        void send() {
            if (options.is("work", "sleep")) {
                handler.post(
                        new Runnable() {
                            @Override
                            public void run() {
                                SystemClock.sleep(MESSAGE_MS);
                            }
                        });
            } else {
                new ShopHandler(looper).send(nth, MESSAGE_MS);
            }
        }
    }

    private void end() {
        if (options.is("mode", "back")) {
            other.set(ours);
        }
        new Thread("asker") {
            @Override
            public void run() {
                SystemClock.sleep(1_000);
                if (options.is("mode", "back")) {
                    // Of a message that the hook sees again.
                    new ShopHandler(looper).send(MESSAGES + 1, 60);
                    SystemClock.sleep(1_000);
                }
                askAtOnce(options.number("askers", 0));
                Script.say("hook " + Hooks.hook());
                if (options.is("end", "killed")) {
                    return;
                }
                Loopbox.dump("at the end");
                SystemClock.sleep(200);
                Script.say("then " + Hooks.hook());
                Runtime.getRuntime().halt(0);
            }
        }.start();
    }

    /**
     * Makes {@code askers} threads request the status at the same time, repeatedly. They stop when the status
     * says for sure whether the hook is in place, or after {@link #AT_REST_MS}.
     */
    private static void askAtOnce(int askers) {
        final long untilMs = SystemClock.uptimeMillis() + AT_REST_MS;
        Thread[] threads = new Thread[askers];
        for (int nth = 0; nth < askers; nth++) {
            threads[nth] =
                    new Thread("asker " + nth) {
                        @Override
                        public void run() {
                            while (Hooks.hook().contains("perhaps") && SystemClock.uptimeMillis() < untilMs) {
                                Thread.yield();
                            }
                        }
                    };
        }
        for (Thread thread : threads) {
            thread.start();
        }
        try {
            for (Thread thread : threads) {
                thread.join();
            }
        } catch (InterruptedException never) {
            throw new AssertionError(never);
        }
    }

    /** The other library. */
    private interface Other {
        Object current() throws Exception;

        void set(Object hook);

        void replace() throws Exception;

        void wrap() throws Exception;

        void keepToItself();
    }

    private final class ByPrinter implements Other {
        private Monitor monitor;

        @Override
        public Object current() throws Exception {
            return Monitor.current(looper);
        }

        @Override
        public void set(Object hook) {
            looper.setMessageLogging((Printer) hook);
        }

        @Override
        public void replace() {
            monitor = Monitor.replace(looper);
        }

        @Override
        public void wrap() throws Exception {
            monitor = Monitor.wrap(looper);
        }

        @Override
        public void keepToItself() {
            monitor.keepToItself();
        }
    }

    private static final class Observer implements Other {
        private Stats stats;

        @Override
        public Object current() throws Exception {
            return Stats.current();
        }

        @Override
        public void set(Object hook) {
            try {
                Field field = Looper.class.getDeclaredField("sObserver");
                field.setAccessible(true);
                field.set(null, hook);
            } catch (ReflectiveOperationException refused) {
                throw new AssertionError(refused);
            }
        }

        @Override
        public void replace() throws Exception {
            stats = Stats.install();
        }

        @Override
        public void wrap() throws Exception {
            stats = Stats.wrap();
        }

        @Override
        public void keepToItself() {
            stats.passOnTo(null);
        }
    }
}
