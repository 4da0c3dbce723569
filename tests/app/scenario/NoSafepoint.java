package scenario;

import android.os.Handler;
import android.os.Looper;
import android.os.Process;
import android.os.SystemClock;
import android.system.Os;
import android.system.OsConstants;
import com.example.shop.CheckoutActivity;
import dalvik.annotation.optimization.FastNative;
import io.loopbox.Loopbox;
import java.io.File;

/**
 * A thread reaches no safepoint, or must not be suspended, while reports are requested.
 *
 * <p>{@code who=main}: the main thread is in a fast native method. For ART the thread runs Java code there,
 * but it reaches no safepoint. After that it hangs in a message. {@code who=other}: another thread is in that
 * method while the main thread hangs in a message. The method runs for {@code ms=}, or until the file {@code
 * gate=} is there. {@code who=art}: the main thread hangs in a message that begins after ART has got SIGQUIT.
 */
public final class NoSafepoint {
    private static final int MS = 6_000;

    private final Options options;
    private final Handler handler = new Handler(Looper.myLooper());

    private NoSafepoint(Options options) {
        this.options = options;
    }

    /** Goes on until the process is killed. */
    public static void main(String[] arguments) {
        Options options = new Options(arguments);
        Looper.prepareMainLooper();
        Script.install(options);
        final NoSafepoint scenario = new NoSafepoint(options);
        scenario.handler.post(new Runnable() {
            @Override
            public void run() {
                try {
                    scenario.run();
                } catch (Exception failed) {
                    throw new AssertionError(failed);
                }
            }
        });
        Looper.loop();
    }

    private void run() throws Exception {
        if (options.is("who", "main")) {
            spin(options.number("ms", MS), options.text("gate", ""));
            Script.say("spun");
        } else if (options.is("who", "other")) {
            new Thread("spinning") {
                @Override
                public void run() {
                    spin(options.number("ms", MS), options.text("gate", ""));
                    Script.say("spun");
                }
            }.start();
            while (!isSpinning()) {
                Thread.sleep(5);
            }
        } else {
            SignalCatcher.await();
            Os.kill(Process.myPid(), OsConstants.SIGQUIT);
            PrintingListener.await(1);
        }
        new CheckoutActivity(Looper.myLooper()).sendEmptyMessage(CheckoutActivity.PAY);
        new Thread("reports") {
            @Override
            public void run() {
                while (true) {
                    SystemClock.sleep(100);
                    // None in time, while ART has every thread wait for the one that does not stop.
                    File report = Loopbox.dump("again");
                    if (report != null) {
                        Script.say("again " + report);
                    }
                }
            }
        }.start();
    }

    @FastNative
    private static native void spin(int ms, String gate);

    private static native boolean isSpinning();
}
