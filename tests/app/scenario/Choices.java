package scenario;

import android.app.ActivityThread;
import android.app.job.JobParameters;
import android.app.job.JobServiceEngine;
import android.os.Handler;
import android.os.Looper;
import com.example.shop.Scroll;
import com.example.shop.ShopHandler;
import io.loopbox.Loopbox;

/**
 * The effect of a configuration's values. {@code mode=} is the scenario; the arguments of {@link Options}
 * choose the values. Each scenario ends with a report that the app requests.
 */
public final class Choices {
    private static final long LATER_MS = 3_600_000;

    /** A queued object whose toString prints the thread that it runs on, and is slow or throws. */
    private static final class Printed {
        private final int takesMs;

        Printed(int takesMs) {
            this.takesMs = takesMs;
        }

        @Override
        public String toString() {
            Script.say("printed on " + Thread.currentThread().getName());
            if (takesMs == 0) {
                throw new IllegalStateException("card 4929 0000");
            }
            try {
                Thread.sleep(takesMs);
            } catch (InterruptedException stopped) {
                Script.say("stopped");
            }
            return "late words";
        }
    }

    private final Looper looper = Looper.getMainLooper();
    private final Handler handler = new Handler(looper);
    private final ShopHandler shop = new ShopHandler(looper);

    private Choices() {}

    /** Runs one scenario and ends the process. */
    public static void main(String[] arguments) {
        Looper.prepareMainLooper();
        Options options = new Options(arguments);
        Script.install(options);
        new Choices().run(options.text("mode", ""));
        Runtime.getRuntime().halt(0);
    }

    private void run(String mode) {
        if ("running".equals(mode)) {
            handler.post(
                    new Runnable() {
                        @Override
                        public void run() {
                            Script.dump("inside of a message");
                        }
                    });
            OddMessages.runAll(looper);
            return;
        }
        post(mode);
        OddMessages.runAll(looper);
        Script.dump(mode);
    }

    /** A job service without jobs. */
    private static final class NoJobs extends JobServiceEngine {
        NoJobs() {
            super(null);
        }

        @Override
        public boolean onStartJob(JobParameters parameters) {
            return false;
        }

        @Override
        public boolean onStopJob(JobParameters parameters) {
            return false;
        }
    }

    private void post(String mode) {
        if ("groups".equals(mode)) {
            for (int what = 1; what <= 4; what++) {
                shop.send(what, 60);
            }
            shop.send(5, 400);
        } else if ("stacks".equals(mode)) {
            Script.awaitSampler();
            for (int what = 1; what <= 3; what++) {
                shop.send(what, 500);
            }
        } else if ("components".equals(mode)) {
            new ActivityThread.H(looper).sendEmptyMessage(ActivityThread.H.CREATE_SERVICE);
            new NoJobs().startJob(new JobParameters(1));
        } else if ("queue".equals(mode)) {
            for (int i = 0; i < 30; i++) {
                handler.postDelayed(new Scroll(), LATER_MS);
            }
        } else if ("slow".equals(mode) || "throwing".equals(mode)) {
            shop.send(1, 60);
            handler.postDelayed(new Scroll(), LATER_MS);
            Object printed = new Printed("slow".equals(mode) ? 4_000 : 0);
            handler.sendMessageDelayed(handler.obtainMessage(6, printed), LATER_MS + 1);
            handler.postDelayed(new Scroll(), LATER_MS + 2);
        } else {
            throw new IllegalArgumentException("no such mode: " + mode);
        }
    }
}
