package phone;

import android.app.ActivityThread;
import android.app.ContextImpl;
import android.content.pm.ProviderInfo;
import android.os.Looper;
import java.io.File;
import java.util.Collections;
import scenario.Options;

/**
 * An app that starts, is used and is ended as on a phone, and that can hang wherever a main thread can. Each place where
 * the app's own code runs prints {@code at PLACE: } with the methods below it on the stack, once, when it is reached
 * first; {@link Places} lists them.
 *
 * <p>Arguments: those of {@link Options}; {@code hang=PLACE,...}: where it hangs; {@code how=}: {@link Hang} lists
 * them; {@code ms=} for how long, or {@code gate=} until a file is there; {@code install=}attach, provider, onCreate or
 * none: where the recorder is installed; {@code dump=on}: a report at the end; {@code dumpGate=}: one when this file is
 * there; {@code printGate=}: {@link SlowlyPrinted};
 * {@code displaced=yes}: another library takes the recorder's Printer out once the app is bound.
 */
public final class Main {
    static Options options;

    private Main() {}

    /** As ActivityThread.main does. */
    public static void main(String[] arguments) {
        options = new Options(arguments);
        Looper.prepareMainLooper();
        File directory = new File(options.text("dir", "."));
        ActivityThread thread = new ActivityThread(new ContextImpl(directory, "com.example.phone", "com.example.phone"));
        ProviderInfo provider = new ProviderInfo();
        provider.name = PhoneProvider.class.getName();
        ActivityThread.AppBindData app =
                new ActivityThread.AppBindData(PhoneApplication.class, Collections.singletonList(provider));
        if (!options.text("dumpGate", "").isEmpty()) {
            new Thread(new GatedDump(new File(options.text("dumpGate", "")))).start();
        }
        new Thread(new SystemServer(thread.getApplicationThread(), app), "Binder:1").start();
        Looper.loop();
        throw new IllegalStateException("Main thread loop unexpectedly exited");
    }
}
