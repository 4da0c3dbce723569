package integrate;

import android.app.Application;
import android.os.Looper;
import io.loopbox.Loopbox;
import scenario.Options;
import scenario.Phone;
import scenario.Script;

/**
 * Starts an app's own Application, and requests a report. Arguments: those of Phone, and {@code
 * application=CLASS}.
 */
public final class Attached {
    private Attached() {}

    public static void main(String[] arguments) throws Exception {
        Looper.prepareMainLooper();
        Options options = new Options(arguments);
        Application application = (Application) Class.forName(options.text("application", "")).newInstance();
        application.attach(new Phone(options));
        Script.say("recording " + Loopbox.status().isOn());
        new Thread("asks") {
            @Override
            public void run() {
                Loopbox.dump("asked");
            }
        }.start();
        Looper.loop();
    }
}
