package scenario;

import android.os.Handler;
import android.os.Looper;
import android.os.SystemClock;
import io.loopbox.Loopbox;
import io.loopbox.Status;

/**
 * One process of an app whose recorder is switched off by another one. {@code how=}
 *
 * <ul>
 *   <li>off: the other process, which switches the recorder off and ends;
 *   <li>busy: messages follow each other;
 *   <li>rest: no message comes until the file {@code gate=} is there; then the app asks for a report;
 *   <li>hang: one message runs until the file {@code gate=} is there.
 * </ul>
 *
 * It prints a line as soon as the status says that the recorder is off. Other arguments are those of {@link
 * Options} and {@link Phone}.
 */
public final class Switched implements Runnable {
    private static final int MESSAGE_MS = 20;
    private static final int CHECK_MS = 50;

    private final Options options;
    private final Handler handler = new Handler(Looper.getMainLooper());

    private Switched(Options options) {
        this.options = options;
    }

    /** Runs until it is killed, or has switched the recorder off. */
    public static void main(String[] arguments) {
        Looper.prepareMainLooper();
        final Options options = new Options(arguments);
        Phone phone = new Phone(options);
        if (options.is("how", "off")) {
            Loopbox.setEnabled(phone, false);
            Runtime.getRuntime().halt(0);
        }
        Status status = Loopbox.install(phone, options.config().build());
        if (!status.isOn()) {
            throw new AssertionError(status);
        }
        Script.awaitSampler();
        final Switched process = new Switched(options);
        if (!options.is("how", "rest")) {
            process.handler.post(process);
        }
        new Thread("checks") {
            @Override
            public void run() {
                if (options.is("how", "rest")) {
                    process.askOnOrder();
                }
                Status status;
                do {
                    SystemClock.sleep(CHECK_MS);
                    status = Loopbox.status();
                } while (status.isOn());
                Script.say("now " + status);
            }
        }.start();
        Script.say("records");
        Looper.loop();
    }

    private void askOnOrder() {
        Script.awaitFile(options.text("gate", ""));
        Script.say("before " + Loopbox.status().isOn());
        Script.say("report " + Loopbox.dump("asked"));
    }

    @Override
    public void run() {
        if (options.is("how", "hang")) {
            Script.say("hangs");
            Script.awaitFile(options.text("gate", ""));
            Script.say("went on");
        } else {
            Work.busy(MESSAGE_MS);
            handler.postDelayed(this, MESSAGE_MS);
        }
    }
}
