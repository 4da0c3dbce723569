package scenario;

import android.os.Handler;
import android.os.Looper;
import com.othersdk.Crashes;
import io.loopbox.Config;
import io.loopbox.Loopbox;
import java.io.File;

/**
 * One start of an app: prints what became of the recorder, then {@code how=crash}: dies of a native crash, or else stays.
 * {@code version=}: the app's. Other arguments are those of {@link Options} and {@link Phone}.
 */
public final class Starts implements Runnable {
    private final Options options;

    private Starts(Options options) {
        this.options = options;
    }

    /** Runs until it is killed, or dies. */
    public static void main(String[] arguments) {
        Looper.prepareMainLooper();
        Options options = new Options(arguments);
        Config config = options.config().appVersion(options.text("version", "1")).build();
        Script.say("status " + Loopbox.install(new Phone(options), config));
        new Handler().post(new Starts(options));
        Looper.loop();
    }

    @Override
    public void run() {
        if (options.is("how", "crash")) {
            // A crash reporter's handler: without one ART writes for seconds about what happened.
            Crashes.install(new File(System.getProperty("java.library.path"), "libloopbox.so").getPath());
            Crashes.crash();
        }
    }
}
