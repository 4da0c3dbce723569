package scenario;

import android.os.Handler;
import android.os.Looper;
import com.othersdk.Crashes;
import io.loopbox.Config;
import io.loopbox.Loopbox;
import java.io.File;

/**
 * One start of an app. It prints the recorder's status. Then, with {@code how=crash}, it ends by a native
 * crash; otherwise it stays. {@code version=}: the app's version. {@code unlocked=}: the path of a file; when
 * the file exists, the user has unlocked the device. {@code twice=yes}: the app installs a second time, as an
 * initializer and the app's own call do. Other arguments are those of {@link Options} and {@link Phone}.
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
        final Phone phone = new Phone(options);
        Script.say("status " + Loopbox.install(phone, config));
        if (options.is("twice", "yes")) {
            Script.say("second " + Loopbox.install(phone, config));
        }
        if (!options.text("unlocked", "").isEmpty()) {
            unlockLater(phone, options.text("unlocked", ""));
        }
        new Handler().post(new Starts(options));
        Looper.loop();
    }

    private static void unlockLater(final Phone phone, final String gate) {
        new Thread("user") {
            @Override
            public void run() {
                Script.awaitFile(gate);
                new Handler(Looper.getMainLooper())
                        .post(
                                new Runnable() {
                                    @Override
                                    public void run() {
                                        phone.broadcast("android.intent.action.USER_UNLOCKED");
                                        Script.say("unlocked " + Loopbox.status());
                                    }
                                });
            }
        }.start();
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
