package scenario;

import android.os.Handler;
import android.os.Looper;
import android.os.Process;
import android.system.ErrnoException;
import android.system.Os;
import android.system.OsConstants;
import com.othersdk.Signals;
import io.loopbox.Loopbox;

/**
 * SIGQUIT, as the system sends it, among other libraries that want it too, and in numbers. {@code mode=} says which
 * story; the main thread stays in one message all the while.
 */
public final class Quits implements Runnable {
    private final Options options;

    private Quits(Options options) {
        this.options = options;
    }

    /** Tells one story and ends the process. */
    public static void main(String[] arguments) {
        Looper.prepareMainLooper();
        Options options = new Options(arguments);
        if (options.is("mode", "before")) {
            Signals.install(false);
        }
        if (!Loopbox.install(options.config().build()).isOn()) {
            throw new AssertionError("not installed");
        }
        new Handler().post(new Quits(options));
        Looper.loop();
    }

    @Override
    public void run() {
        try {
            tell(options.text("mode", "plain"));
            Runtime.getRuntime().halt(0);
        } catch (Exception failed) {
            throw new AssertionError(failed);
        }
    }

    private void tell(String mode) throws Exception {
        if ("after".equals(mode) || "swallowed".equals(mode)) {
            Signals.install("after".equals(mode));
        } else if ("circle".equals(mode)) {
            // The other one has found ours and passes on to it; ours, installed again, has found the other one.
            Signals.install(true);
            Loopbox.uninstall();
            Loopbox.install(options.config().build());
        }
        int times = options.number("times", 1);
        int pauseMs = options.number("pauseMs", 300);
        for (int i = 0; i < times; i++) {
            quit();
            if (pauseMs > 0) {
                Thread.sleep(pauseMs);
            }
        }
        Thread.sleep(500);
        Loopbox.dump("at the end");
        Script.say("others " + Signals.count());
        Loopbox.uninstall();
        if ("before".equals(mode) || "after".equals(mode)) {
            quit();
            Script.say("others " + Signals.count());
        }
    }

    private static void quit() throws ErrnoException {
        Os.kill(Process.myPid(), OsConstants.SIGQUIT);
    }
}
