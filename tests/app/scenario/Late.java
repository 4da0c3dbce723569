package scenario;

import android.app.Activity;
import android.app.ActivityManager;
import android.app.Application;
import android.app.ContextImpl;
import android.content.Context;
import android.os.Handler;
import android.os.Looper;
import android.os.SystemClock;
import io.loopbox.Loopbox;
import io.loopbox.Status;
import java.io.File;

/**
 * The recorder is installed late, or at an unusual moment. {@code mode=}
 *
 * <ul>
 *   <li>front: an Activity is in front, and opens the next one after the installation;
 *   <li>behind: Activities may exist, but none is in front;
 *   <li>unknown: the system does not report whether Activities are visible;
 *   <li>again: the recorder was uninstalled before, and an Activity is in front;
 *   <li>start: no Activity can exist yet;
 *   <li>base: the Context has no Application yet, and the launch of the first Activity waits in the queue.
 * </ul>
 *
 * The arguments of {@link Options} apply. {@code importance=N} and {@code reason=N} are the system's answers
 * about the process. With {@code says=dead} there is no answer.
 */
public final class Late implements Runnable {
    private static final int LONG_MS = 1_500;

    private final Options options;
    private final String mode;
    private final Application application;
    private final Consent consent = new Consent();
    private final Shop shop = new Shop();
    private final ContextImpl base;

    private Late(Options options) {
        this.options = options;
        mode = options.text("mode", "front");
        base = new ContextImpl(new File(options.text("dir", ".")), "com.example.shop", "this one");
        application = new Phone(options);
    }

    private static final class Consent extends Activity {}

    private static final class Shop extends Activity {}

    /** Runs one mode and ends the process. */
    public static void main(String[] arguments) {
        Looper.prepareMainLooper();
        Options options = new Options(arguments);
        ActivityManager.importance = options.number("importance", 100);
        ActivityManager.importanceReasonCode = options.number("reason", 0);
        ActivityManager.isDead = options.is("says", "dead");
        Late app = new Late(options);
        if (app.mode.equals("start")) {
            app.install(app.application);
        } else if (app.mode.equals("base")) {
            // As the launch of an Activity, which waits already when the process starts.
            new Handler().post(app.launch());
            app.install(app.base);
        }
        new Handler().post(app);
        Looper.loop();
    }

    private Runnable launch() {
        return new Runnable() {
            @Override
            public void run() {
                base.application = application;
                application.show(consent);
            }
        };
    }

    private void install(Context context) {
        if (!Loopbox.install(context, options.config().build()).isOn()) {
            throw new AssertionError("not installed");
        }
        Script.awaitSampler();
    }

    @Override
    public void run() {
        if (mode.equals("front") || mode.equals("unknown") || mode.equals("behind")) {
            late();
        } else if (mode.equals("again")) {
            again();
        }
        answered();
        // What the answer has main do comes before this.
        new Handler()
                .post(
                        new Runnable() {
                            @Override
                            public void run() {
                                step("asked");
                                goOn();
                            }
                        });
    }

    /** The system answers only after main has installed the recorder and has printed what it then knows. */
    private void late() {
        if (!mode.equals("behind")) {
            application.show(consent);
        }
        ActivityManager.ANSWERS.acquireUninterruptibly();
        install(application);
        step("at once");
        ActivityManager.ANSWERS.release();
    }

    private void again() {
        install(application);
        application.show(shop);
        Loopbox.uninstall();
        ActivityManager.isDead = true;
        install(application);
    }

    /** Waits until the recorder's thread that asks the system about the foreground has ended. */
    private static void answered() {
        Thread[] all = new Thread[100];
        boolean asks = true;
        while (asks) {
            asks = false;
            for (int at = Thread.enumerate(all) - 1; at >= 0; at--) {
                asks |= all[at].getName().equals("loopbox-foreground");
            }
            SystemClock.sleep(1);
        }
    }

    private void goOn() {
        if (mode.equals("behind") || mode.equals("start")) {
            new LongMessage().post();
            return;
        }
        if (mode.equals("again")) {
            application.hide(shop);
            Loopbox.uninstall();
            install(application);
            step("behind");
        } else {
            seen();
        }
        end();
    }

    /** The Activity in front is replaced by the next one, which leaves the screen and comes back. */
    private void seen() {
        application.replace(consent, shop);
        step("next");
        application.hide(shop);
        step("behind");
        application.show(shop);
        step("back");
    }

    private static void step(String when) {
        for (Status.Part part : Loopbox.status().getParts()) {
            if (part.getName().equals("hook")) {
                Script.say(when + " hook " + part);
            }
        }
        Script.say(when + " file " + Script.ask(when));
    }

    private static void end() {
        Script.say("done");
        Runtime.getRuntime().halt(0);
    }

    /** A message that is sampled. */
    private static final class LongMessage implements Runnable {
        void post() {
            Handler handler = new Handler();
            handler.post(this);
            handler.post(
                    new Runnable() {
                        @Override
                        public void run() {
                            step("worked");
                            end();
                        }
                    });
        }

        @Override
        public void run() {
            Work.busy(LONG_MS);
        }
    }
}
