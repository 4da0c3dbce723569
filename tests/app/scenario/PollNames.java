package scenario;

import android.app.Activity;
import android.os.Bundle;
import android.os.Handler;
import android.os.Looper;
import io.loopbox.Loopbox;

/**
 * Messages of an activity's life cycle, each short, under a hook that sees no message. The report is
 * requested inside of the last one, by the activity's own code, before it has returned to the framework.
 */
public final class PollNames {
    private final Phone application;
    private final Handler handler = new Handler(Looper.getMainLooper());
    private final First first = new First();
    private final Second second = new Second();
    private boolean ends;

    private PollNames(Options options) {
        application = new Phone(options);
    }

    /** The first screen. */
    public static final class First extends Activity {}

    /** The second Activity. */
    public final class Second extends Activity {
        @Override
        protected void onCreate(Bundle state) {
            if (ends) {
                Script.dump("in onCreate");
                Loopbox.uninstall();
                Runtime.getRuntime().halt(0);
            }
        }
    }

    /** Runs the scenario and ends the process. */
    public static void main(String[] arguments) {
        Looper.prepareMainLooper();
        Options options = new Options(arguments);
        PollNames app = new PollNames(options);
        if (!Loopbox.install(app.application, options.config().build()).isOn()) {
            throw new AssertionError("not installed");
        }
        Script.awaitSampler();
        app.post();
        Looper.loop();
    }

    private void post() {
        handler.post(
                new Step() {
                    @Override
                    void step() {
                        application.show(first);
                    }
                });
        handler.post(
                new Step() {
                    @Override
                    void step() {
                        application.replace(first, second);
                    }
                });
        handler.post(
                new Step() {
                    @Override
                    void step() {
                        application.hide(second);
                        ends = true;
                    }
                });
        handler.post(
                new Step() {
                    @Override
                    void step() {
                        // Nothing of an activity.
                    }
                });
        handler.post(
                new Step() {
                    @Override
                    void step() {
                        application.show(second);
                    }
                });
    }
}
