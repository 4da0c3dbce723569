package bench;

import android.content.Context;
import android.os.Looper;
import android.os.Trace;
import android.system.ErrnoException;
import android.system.Os;
import android.system.OsConstants;
import android.util.Log;
import io.loopbox.Config;
import io.loopbox.Loopbox;
import java.io.File;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.util.ArrayList;
import scenario.Options;
import scenario.Phone;

/**
 * Installs the recorder once, as in {@code Application.attachBaseContext}. Prints how much time the main
 * thread needed to load the library and to install, and the parts of the installation. Arguments: those of
 * {@link Options}.
 */
public final class InstallBench {
    private InstallBench() {}

    /** Runs the benchmark and ends the process. */
    public static void main(String[] arguments) throws Exception {
        Looper.prepareMainLooper();
        Options options = new Options(arguments);
        Phone application =
                new Phone(options) {
                    @Override
                    public Context getApplicationContext() {
                        // Not yet.
                        return null;
                    }
                };
        useWhatTheZygoteHas();
        Trace.testSections = new ArrayList<String>();
        long beginNs = System.nanoTime();
        System.loadLibrary("loopbox");
        long loadedNs = System.nanoTime();
        Config config = new Config.Builder(new File(options.text("dir", "."))).build();
        boolean on = Loopbox.install(application, config).isOn();
        long installedNs = System.nanoTime();
        if (!on) {
            throw new AssertionError("not installed");
        }
        for (String section : Trace.testSections) {
            System.out.println("BENCH section " + section);
        }
        System.out.println("BENCH install " + (loadedNs - beginNs) + " " + (installedNs - loadedNs));
        System.out.flush();
        Runtime.getRuntime().halt(0);
    }

    /** Loads the classes that an app's process on a phone has from its first instant. */
    private static void useWhatTheZygoteHas() throws Exception {
        FileInputStream in = new FileInputStream("/proc/self/cmdline");
        in.read(new byte[1]);
        in.close();
        try {
            Os.lstat("/nowhere");
        } catch (ErrnoException absent) {
            Log.i("bench", "errno " + absent.errno);
        }
        FileDescriptor file = Os.open("/dev/null", OsConstants.O_WRONLY, 0);
        Os.write(file, new byte[1], 0, 1);
        Os.close(file);
        Thread thread =
                new Thread("zygote") {
                    @Override
                    public void run() {
                        Thread.currentThread().getStackTrace();
                    }
                };
        thread.start();
        thread.join();
        Looper.myQueue().isIdle();
    }
}
