package scenario;

import android.app.Activity;
import android.os.Bundle;
import android.os.Handler;
import android.os.Looper;
import io.loopbox.Loopbox;

/**
 * The Activity in front is made anew, as when the screen turns. The onCreate of its next instance hangs until
 * the file {@code gate=} exists; with {@code finishes=yes} the Activity finishes itself instead. In a later
 * message the app asks for a report. Other arguments are those of {@link Options} and {@link Phone}.
 */
public final class Relaunched {
    private Relaunched() {}

    public static void main(String[] arguments) {
        Looper.prepareMainLooper();
        final Options options = new Options(arguments);
        final Phone phone = new Phone(options);
        if (!Loopbox.install(phone, options.config().build()).isOn()) {
            throw new AssertionError("not installed");
        }
        final Activity first = new Activity();
        phone.show(first);
        final Handler handler = new Handler();
        handler.post(
                new Runnable() {
                    @Override
                    public void run() {
                        phone.relaunch(first, new Next(options));
                        handler.post(new Later());
                    }
                });
        Looper.loop();
    }

    private static final class Next extends Activity {
        private final Options options;

        Next(Options options) {
            this.options = options;
        }

        @Override
        protected void onCreate(Bundle state) {
            if (options.is("finishes", "yes")) {
                finish();
            } else {
                Script.awaitFile(options.text("gate", ""));
            }
        }
    }

    private static final class Later implements Runnable {
        @Override
        public void run() {
            Script.say("later " + Script.ask("later"));
            Runtime.getRuntime().halt(0);
        }
    }
}
