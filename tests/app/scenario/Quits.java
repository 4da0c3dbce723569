package scenario;

import android.os.Handler;
import android.os.Looper;
import android.os.Message;
import android.os.Process;
import android.system.ErrnoException;
import android.system.Os;
import android.system.OsConstants;
import com.othersdk.Signals;
import io.loopbox.Loopbox;
import io.loopbox.Status;
import java.io.File;

/**
 * Sends SIGQUIT as the system does, while other libraries want the signal, too. {@code times=}: how many
 * signals; with {@code each=answered} a signal is sent only when the previous one was answered. {@code mode=}
 * says which scenario. The main thread stays in one message all the while. Where the recorder must see a
 * message begin, the main thread runs two.
 */
public final class Quits implements Runnable {
    private final Options options;
    private boolean blocked;

    private Quits(Options options) {
        this.options = options;
    }

    /** Runs one scenario and ends the process. */
    public static void main(String[] arguments) {
        Looper.prepareMainLooper();
        Options options = new Options(arguments);
        String mode = options.text("mode", "plain");
        if ("before".equals(mode) || "removed".equals(mode) || "unregistered".equals(mode)) {
            Signals.install(false);
        }
        if ("dumper-before".equals(mode)) {
            Signals.installDumper();
        }
        if ("claimed".equals(mode)) {
            Signals.claim();
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
            String mode = options.text("mode", "plain");
            if ("unregistered".equals(mode) && !blocked) {
                // As xCrash does when it goes: what it found, of both action and mask.
                blocked = true;
                Signals.remove();
                Signals.block();
                await("off", "has blocked");
                new Handler().post(this);
                return;
            }
            run(mode);
            Runtime.getRuntime().halt(0);
        } catch (Exception failed) {
            throw new AssertionError(failed);
        }
    }

    private void run(String mode) throws Exception {
        if ("after".equals(mode) || "swallowed".equals(mode)) {
            Signals.install("after".equals(mode));
        } else if ("dumper-after".equals(mode) || "dumper-goes".equals(mode)) {
            Signals.installDumper();
            if ("dumper-goes".equals(mode)) {
                await("on", "another library's handler");
                Signals.removeDumper();
                await("on", "handled");
            }
        } else if ("past".equals(mode)) {
            Signals.installPastTheChain();
            past();
            return;
        } else if ("circle".equals(mode)) {
            // The other one has found ours and passes on to it; ours, installed again, has found the other
            // one.
            Signals.install(true);
            Loopbox.uninstall();
            Loopbox.install(options.config().build());
        } else if ("removed".equals(mode)) {
            Signals.remove();
            await("on", "handled");
        } else if ("bypassed".equals(mode)) {
            Signals.setBySystemCall(Signals.IGNORE);
            await("on", "put back from being ignored: 1");
            Signals.setBySystemCall(Signals.DEFAULT);
            await("on", "put back from the default action: 1");
        } else if ("unregistered".equals(mode)) {
            await("on", "handled");
        } else if ("left".equals(mode)) {
            Signals.install(true);
            await("on", "another library's handler");
            Signals.remove();
            await("on", "handled");
        }
        if ("printed".equals(mode)) {
            new Handler().sendMessageDelayed(Message.obtain(null, 7, new Printed(options)), 60_000);
        }
        SignalCatcher.await();
        int times = options.number("times", 1);
        for (int i = 1; i <= times; i++) {
            quit();
            if (options.is("each", "answered")) {
                PrintingListener.await(i);
                SignalCatcher.await();
            }
        }
        Script.dump("at the end");
        SignalCatcher.await();
        Script.say("others " + Signals.count());
        Script.say("dumps " + Signals.dumps());
        Loopbox.uninstall();
        if (options.text("mode", null) != null && !"circle".equals(mode)) {
            quit();
            Script.say("others " + Signals.count());
        }
    }

    /**
     * Only the other library's handler gets the signal. So nothing but the recorder's own detection of hangs
     * is left.
     */
    private void past() throws Exception {
        SignalCatcher.await();
        quit();
        while (Signals.count() == 0) {
            Thread.sleep(5);
        }
        // Of this message, by the recorder's own watch.
        PrintingListener.await(1);
        Script.dump("at the end");
        Script.say("others " + Signals.count());
    }

    /** An object in an app's message that is printed with the queue. */
    private static final class Printed {
        private final File folder;

        Printed(Options options) {
            folder = new File(options.text("dir", "."));
        }

        @Override
        public String toString() {
            int reports = 0;
            for (String name : folder.list()) {
                reports += name.endsWith(".lbx") ? 1 : 0;
            }
            Script.say("printed with " + reports + " reports");
            return "printed";
        }
    }

    /**
     * Waits until the part {@code sigquit} of the status has the state that the argument {@code on} names
     * ("on" or "off"), and its detail contains {@code words}.
     */
    private static void await(String on, String words) throws InterruptedException {
        for (int i = 0; i < 1_500; i++) {
            for (Status.Part part : Loopbox.status().getParts()) {
                if ("sigquit".equals(part.getName()) && part.isOn() == "on".equals(on)
                        && part.getDetail().contains(words)) {
                    return;
                }
            }
            Thread.sleep(20);
        }
        throw new AssertionError("not " + on + ", " + words + ": " + Loopbox.status());
    }

    private static void quit() throws ErrnoException {
        Os.kill(Process.myPid(), OsConstants.SIGQUIT);
    }
}
