package scenario;

import android.os.Handler;
import android.os.HandlerThread;
import android.os.Looper;
import android.os.Message;
import android.os.SystemClock;
import com.othersdk.PollWrapper;
import com.othersdk.Stats;
import io.loopbox.Loopbox;
import io.loopbox.Status;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The poll hook and another library that replaces the same method. {@code mode=} says whether the library or
 * the recorder replaces the method first, and what the library does; {@code rounds=}: how many times the
 * recorder is installed. The arguments of {@link Options} apply. With each report the app prints how many
 * messages have begun since the recorder was installed. An Observer of another library counts them.
 */
public final class PollRivals extends Handler {
    private static final int MESSAGES = 500;

    private final Options options;
    private Stats stats;
    private int startsBefore;
    private int left;
    private Step next;

    private PollRivals(Options options) {
        super(Looper.getMainLooper());
        this.options = options;
    }

    /** Runs the scenario and ends the process. */
    public static void main(String[] arguments) throws Exception {
        Looper.prepareMainLooper();
        new PollRivals(new Options(arguments)).play(new Options(arguments).text("mode", ""));
    }

    private void play(String mode) throws Exception {
        stats = Stats.install();
        PollWrapper.find();
        if ("before".equals(mode)) {
            PollWrapper.wrap();
            install();
            send(
                    new Step() {
                        @Override
                        void step() {
                            report("at the end");
                            Loopbox.uninstall();
                            Script.say("wrapper " + PollWrapper.isThere());
                            PollWrapper.restore();
                            runToEnd();
                        }
                    });
        } else if ("after".equals(mode)) {
            install();
            PollWrapper.wrap();
            send(
                    new Step() {
                        @Override
                        void step() {
                            report("wrapped");
                            Loopbox.uninstall();
                            runWrappedTwice();
                        }
                    });
        } else if ("taken".equals(mode)) {
            install();
            send(
                    new Step() {
                        @Override
                        void step() {
                            PollWrapper.restoreFirst();
                            post(
                                    new Step() {
                                        @Override
                                        void step() {
                                            // Long enough for the message before it to be kept by itself.
                                            SystemClock.sleep(400);
                                            awaitArmed();
                                        }
                                    });
                        }
                    });
        } else if ("jump".equals(mode)) {
            PollWrapper.jump();
            install();
            send(
                    new Step() {
                        @Override
                        void step() {
                            report("at the end");
                            end();
                        }
                    });
        } else if ("churn".equals(mode)) {
            churn(options.number("rounds", 100));
        } else {
            throw new IllegalArgumentException(mode);
        }
        Looper.loop();
    }

    /**
     * Installs the recorder again while the other library's wrapper is still set. The wrapper calls the
     * recorder's first hook.
     */
    private void runWrappedTwice() {
        send(
                new Step() {
                    @Override
                    void step() {
                        install();
                        send(
                                new Step() {
                                    @Override
                                    void step() {
                                        report("wrapped twice");
                                        // What it restores is a function of the recorder's that rests.
                                        PollWrapper.restore();
                                        awaitArmed();
                                    }
                                });
                    }
                });
    }

    /** Waits, with an empty queue in between, until the recorder has put its hook back. */
    private void awaitArmed() {
        post(
                new Runnable() {
                    @Override
                    public void run() {
                        for (Status.Part part : Loopbox.status().getParts()) {
                            if (part.getName().equals("hook") && part.isOn() && part.getDetail().contains("armed again")) {
                                report("armed again");
                                runToReport();
                                return;
                            }
                        }
                        postDelayed(this, 20);
                    }
                });
    }

    private void runToReport() {
        send(
                new Step() {
                    @Override
                    void step() {
                        report("at the end");
                        runToEnd();
                    }
                });
    }

    private void runToEnd() {
        send(
                new Step() {
                    @Override
                    void step() {
                        end();
                    }
                });
    }

    private void end() {
        Loopbox.uninstall();
        Script.say("calls " + PollWrapper.calls());
        Script.say("first " + PollWrapper.isFirst());
        Runtime.getRuntime().halt(0);
    }

    /**
     * Installs the recorder, and begins to count messages. The message that is running counts as the first
     * one.
     */
    private void install() {
        Script.install(options);
        startsBefore = Math.max(0, stats.starts - 1);
    }

    /**
     * Prints how many messages began since the installation, and requests the report inside of the last of
     * them.
     */
    private void report(String name) {
        Script.say("begun " + (stats.starts - startsBefore) + " at " + name);
        Script.dump(name);
    }

    /** Sends some messages, some with an empty queue before them. {@code after} is the last one. */
    private void send(Step after) {
        left = MESSAGES;
        next = after;
        sendEmptyMessage(0);
    }

    @Override
    public void handleMessage(Message message) {
        left--;
        if (left == 0) {
            next.run();
        } else if (left % 50 == 0) {
            sendEmptyMessageDelayed(0, 3);
        } else {
            sendEmptyMessage(0);
        }
    }

    /**
     * Another thread installs and uninstalls the recorder again and again, while six other loops poll all the
     * time. Then this thread installs it, and requests a report.
     */
    private void churn(final int rounds) {
        final AtomicLong others = new AtomicLong();
        for (int i = 0; i < 6; i++) {
            HandlerThread other = new HandlerThread("other");
            other.start();
            final Handler handler = new Handler(other.getLooper());
            handler.post(
                    new Runnable() {
                        @Override
                        public void run() {
                            others.incrementAndGet();
                            handler.postDelayed(this, 1);
                        }
                    });
        }
        new Thread("installs") {
            @Override
            public void run() {
                for (int round = 0; round < rounds; round++) {
                    Loopbox.install(options.config().build());
                    // Main waits in a poll, or runs a message.
                    if (round % 2 == 0) {
                        SystemClock.sleep(2);
                    }
                    Loopbox.uninstall();
                }
                post(
                        new Runnable() {
                            @Override
                            public void run() {
                                Script.say("rounds " + rounds);
                                long seen = others.get();
                                install();
                                runToReport();
                                while (others.get() < seen + 100) {
                                    Thread.yield();
                                }
                            }
                        });
            }
        }.start();
        left = Integer.MAX_VALUE;
        sendEmptyMessage(0);
    }
}
