package scenario;

import android.os.Handler;
import android.os.Looper;
import android.os.SystemClock;
import com.othersdk.IdleHandlers;
import com.othersdk.Monitor;
import com.othersdk.Stats;
import io.loopbox.Loopbox;
import java.io.File;
import java.util.concurrent.CountDownLatch;

/**
 * Another library takes the hook's place, takes it again every second, and passes no calls on. Then main
 * hangs twice, each time until a file exists.
 *
 * <p>Arguments, in addition to those of {@link Options}:
 *
 * <ul>
 *   <li>{@code other=} Printer or Observer: the hook that the library sets, the same as {@code hook=};
 *   <li>{@code from=} main or thread: the thread on which the library does so;
 *   <li>{@code idle=replaced}: the library replaces the queue's idle handlers, too;
 *   <li>{@code gate=}: the files' path, without the number of the hang;
 *   <li>{@code then=parks}: at the end the library stops, and the wake-ups of the thread that watches main
 *   are counted; or pauses: at the end the app pauses and resumes the recorder, which has given its hook up,
 *   and the library takes the place once more.
 * </ul>
 */
public final class Contested {
    private static final int EVERY_MS = 1_000;

    /** How long main is watched without the hook after the hook was displaced, in milliseconds. */
    private static final int RELIED_ON_MS = 12_000;

    private final Options options;
    private final Looper looper = Looper.getMainLooper();
    private final Handler handler = new Handler(looper);
    private volatile boolean takes = true;

    private Contested(Options options) {
        this.options = options;
    }

    /** Runs the scenario and ends the process. */
    public static void main(String[] arguments) {
        Looper.prepareMainLooper();
        final Contested contested = new Contested(new Options(arguments));
        Script.install(contested.options);
        Script.awaitSampler();
        new Thread("player") {
            @Override
            public void run() {
                try {
                    contested.play();
                } catch (Exception failed) {
                    throw new AssertionError(failed);
                }
            }
        }.start();
        Looper.loop();
    }

    private void play() throws Exception {
        // Main has gone to rest, and nothing watches it any more.
        SystemClock.sleep(1_500);
        if (options.is("from", "thread")) {
            takeOnThread();
        } else {
            takeOnMain();
        }
        SystemClock.sleep(500);
        // What an app does meanwhile.
        handler.post(
                new Runnable() {
                    @Override
                    public void run() {}
                });
        SystemClock.sleep(3_500);
        hang(1);
        SystemClock.sleep(2_500);
        hang(2);
        if (options.is("then", "parks")) {
            letGo();
        } else if (options.is("then", "pauses")) {
            pause();
        }
        Runtime.getRuntime().halt(0);
    }

    private void takeOnMain() {
        handler.post(
                new Step() {
                    @Override
                    void step() throws Exception {
                        if (takes) {
                            take();
                            handler.postDelayed(this, EVERY_MS);
                        }
                    }
                });
    }

    private void takeOnThread() {
        new Thread("other") {
            @Override
            public void run() {
                try {
                    while (takes) {
                        take();
                        SystemClock.sleep(EVERY_MS);
                    }
                } catch (Exception failed) {
                    throw new AssertionError(failed);
                }
            }
        }.start();
    }

    private void take() throws Exception {
        if (options.is("other", "Observer")) {
            Stats.install();
        } else {
            Monitor.replace(looper);
        }
        if (options.is("idle", "replaced")) {
            IdleHandlers.replace();
        }
    }

    /**
     * Makes main hang, the first time asleep, the second time in a computation. Each hang lasts until its
     * file exists.
     */
    private void hang(final int nth) throws InterruptedException {
        final File gate = new File(options.text("gate", "") + nth);
        final CountDownLatch over = new CountDownLatch(1);
        handler.post(
                new Runnable() {
                    @Override
                    public void run() {
                        if (nth == 1) {
                            sleepUntil(gate);
                        } else {
                            computeUntil(gate);
                        }
                        over.countDown();
                    }
                });
        Script.say("hangs " + nth);
        over.await();
        Script.say("over " + nth);
    }

    private static void sleepUntil(File gate) {
        while (!gate.exists()) {
            SystemClock.sleep(500);
        }
    }

    private static void computeUntil(File gate) {
        while (!gate.exists()) {
            Work.busy(500);
        }
    }

    private void letGo() {
        takes = false;
        // It may be about to take the place once more, which is noticed when main rests.
        SystemClock.sleep(2 * EVERY_MS);
        while (!Hooks.hook().startsWith("true")) {
            SystemClock.sleep(500);
        }
        Script.say("back " + Hooks.hook());
        SystemClock.sleep(RELIED_ON_MS);
        long before = watch();
        SystemClock.sleep(6_000);
        Script.say("parked " + (watch() - before));
    }

    private void pause() throws Exception {
        takes = false;
        SystemClock.sleep(2 * EVERY_MS);
        Script.say("given up " + Hooks.hook());
        Loopbox.pause();
        awaitHook("false paused by the app");
        Loopbox.resume();
        awaitHook("true");
        take();
        awaitHook("false");
        Script.say("noticed " + Hooks.hook());
    }

    /** Waits until the hook's state begins with this text, while main runs messages. */
    private void awaitHook(String beginning) {
        while (!Hooks.hook().startsWith(beginning)) {
            handler.post(
                    new Runnable() {
                        @Override
                        public void run() {}
                    });
            SystemClock.sleep(100);
        }
    }

    private static long watch() {
        return Wakes.wakes().get("watch");
    }
}
