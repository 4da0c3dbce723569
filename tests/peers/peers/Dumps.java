package peers;

import android.os.Handler;
import android.os.Looper;
import android.os.Process;
import android.system.Os;
import android.system.OsConstants;
import io.loopbox.FirstFileListener;
import io.loopbox.Loopbox;
import io.loopbox.Report;
import io.loopbox.Status;
import java.io.File;
import java.util.concurrent.CountDownLatch;
import scenario.Options;
import scenario.Script;
import scenario.SignalCatcher;

/**
 * The recorder and xCrash, which both want SIGQUIT. It comes from outside: once while both are there and main
 * is busy, and once when the recorder is gone. Arguments: those of {@link Options}; {@code order=first} or
 * {@code last}: whether the recorder comes before xCrash; {@code crash=on}: the process crashes instead.
 */
public final class Dumps implements FirstFileListener {
    private final Handler main = new Handler(Looper.getMainLooper());
    private final CountDownLatch reported = new CountDownLatch(1);
    private final Options options;
    private final Tombstones xcrash;

    private Dumps(Options options) {
        this.options = options;
        xcrash = new Tombstones(new File(options.text("dir", ".")));
    }

    public static void main(String[] arguments) {
        Looper.prepareMainLooper();
        Dumps dumps = new Dumps(new Options(arguments));
        dumps.install();
        dumps.main.post(dumps::both);
        Looper.loop();
    }

    private void install() {
        if (options.is("order", "first")) {
            ours();
            xcrash.install();
        } else {
            xcrash.install();
            ours();
        }
    }

    private void ours() {
        if (!Loopbox.install(xcrash.app, options.config().listener(this).build()).isOn()) {
            throw new AssertionError(Loopbox.status().toString());
        }
    }

    @Override public void onFirstFile(Report report) {
        xcrash.section.onFirstFile(report);
        if (report.getKind() == Report.Kind.ANR) {
            // As a phone's system does, it says so after the signal. xCrash asks each half second.
            Peer.context.hangsAtOnce();
        }
    }

    @Override public void onReport(Report report) {
        onFirstFile(report);
        xcrash.section.onReport(report);
        if (report.getKind() == Report.Kind.ANR) {
            reported.countDown();
        }
    }

    private void both() {
        try {
            awaitChain();
            if (options.is("crash", "on")) {
                Os.kill(Process.myPid(), OsConstants.SIGSEGV);
            }
            // From two fifths of the threshold on the system's signal is probably one of an ANR.
            Peer.sleep(options.number("hangMs", 0) / 2);
            SignalCatcher.await();
            Script.say("waits");
            xcrash.await(1);
            reported.await();
            Script.dump("at the end");
            Loopbox.uninstall();
            main.post(this::alone);
        } catch (Exception failed) {
            throw new AssertionError(failed);
        }
    }

    private void alone() {
        try {
            SignalCatcher.await();
            Script.say("waits alone");
            xcrash.await(2);
            SignalCatcher.await();
            Runtime.getRuntime().halt(0);
        } catch (Exception failed) {
            throw new AssertionError(failed);
        }
    }

    /** Waits until the recorder has seen that xCrash has a handler. */
    private static void awaitChain() {
        for (int i = 0; i < 1_500; i++) {
            for (Status.Part part : Loopbox.status().getParts()) {
                if (part.getName().equals("sigquit") && part.getDetail().contains("another library's handler")) {
                    return;
                }
            }
            Peer.sleep(20);
        }
        throw new AssertionError(Loopbox.status().toString());
    }
}
