package bench;

import android.os.Looper;
import io.loopbox.Config;
import io.loopbox.Loopbox;
import java.io.File;
import scenario.Options;
import scenario.Phone;

/**
 * Installs the recorder once, as in {@code Application.attachBaseContext}, and prints how long loading the library and
 * installing took the main thread. Arguments: those of {@link Options}.
 */
public final class InstallBench {
    private InstallBench() {}

    /** Ends the process by itself. */
    public static void main(String[] arguments) {
        Looper.prepareMainLooper();
        Options options = new Options(arguments);
        Phone application = new Phone(options);
        long beginNs = System.nanoTime();
        System.loadLibrary("loopbox");
        long loadedNs = System.nanoTime();
        Config config = new Config.Builder(new File(options.text("dir", "."))).build();
        boolean on = Loopbox.install(application, config).isOn();
        long installedNs = System.nanoTime();
        if (!on) {
            throw new AssertionError("not installed");
        }
        System.out.println("BENCH install " + (loadedNs - beginNs) + " " + (installedNs - loadedNs));
        System.out.flush();
        Runtime.getRuntime().halt(0);
    }
}
