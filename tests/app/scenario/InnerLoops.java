package scenario;

import android.os.Handler;
import android.os.Looper;
import android.os.SystemClock;

/**
 * A message that runs {@code Looper.loop()} again. This inner loop runs for the rest of the app's life, as in
 * libraries that catch all exceptions of an app. Or it ends by an exception that one of its messages throws,
 * as in modal dialogs.
 *
 * <p>Arguments: those of {@link Options}; {@code count=}: how many messages the inner loop has; {@code mode=}
 * says where the time {@code ms=} passes:
 *
 * <ul>
 *   <li>{@code quiet}: before each message of the inner loop;
 *   <li>{@code throws}: between the messages of the inner loop, each of which throws;
 *   <li>{@code slow}: in each message of the inner loop;
 *   <li>{@code left}: in the outer message, after the inner loop has ended;
 *   <li>{@code outer}: in the outer message, before the inner loop.
 * </ul>
 */
public final class InnerLoops {
    private static final int SHORT_MS = 5;

    private final Handler handler = new Handler(Looper.getMainLooper());
    private final Options options;
    private final int ms;

    private InnerLoops(Options options) {
        this.options = options;
        ms = options.number("ms", 0);
    }

    /** Runs the scenario, asks for a report at the end, and waits to be killed. */
    public static void main(String[] arguments) {
        Looper.prepareMainLooper();
        Options options = new Options(arguments);
        Script.install(options);
        new InnerLoops(options).begin();
        Looper.loop();
    }

    private void begin() {
        handler.post(new Outer());
    }

    /** The message with a loop inside of it. */
    private final class Outer implements Runnable {
        @Override
        public void run() {
            Script.awaitSampler();
            Script.say("outer");
            if (options.is("mode", "outer")) {
                SystemClock.sleep(ms);
            }
            handler.postDelayed(new Inner(options.number("count", 1)), options.is("mode", "quiet") ? ms : 0);
            boolean left = false;
            while (!left) {
                try {
                    Looper.loop();
                } catch (OddMessages.Stop stop) {
                    left = options.is("mode", "left");
                }
            }
            Script.say("left");
            SystemClock.sleep(ms);
            Script.say("went on");
            handler.postDelayed(new End(), SHORT_MS);
        }
    }

    /** A message of the inner loop. */
    private final class Inner implements Runnable {
        private final int more;

        Inner(int more) {
            this.more = more;
        }

        @Override
        public void run() {
            Script.say("inner");
            if (options.is("mode", "slow")) {
                SystemClock.sleep(ms);
            } else {
                Work.busy(SHORT_MS);
            }
            if (options.is("mode", "left")) {
                throw new OddMessages.Stop();
            }
            int afterMs = options.is("mode", "slow") ? SHORT_MS : ms;
            handler.postDelayed(more > 1 ? new Inner(more - 1) : new End(), afterMs);
            if (options.is("mode", "throws")) {
                throw new OddMessages.Stop();
            }
        }
    }

    /** The last message; the loop runs on. */
    private static final class End implements Runnable {
        @Override
        public void run() {
            Script.dump("at the end");
            Script.say("waits");
        }
    }
}
