package scenario;

import android.os.Looper;
import io.loopbox.Loopbox;
import java.io.BufferedReader;
import java.io.File;
import java.io.FileReader;
import java.io.IOException;

/**
 * Installs and uninstalls the recorder {@code times=} times, and prints after each quarter what the process has: bytes from malloc, of
 * these the recorder's, and resident; descriptors, mappings.
 */
public final class Reinstalls {
    private Reinstalls() {}

    public static void main(String[] arguments) throws Exception {
        Looper.prepareMainLooper();
        Options options = new Options(arguments);
        int times = options.number("times", 400);
        for (int i = 1; i <= times; i++) {
            Script.install(options);
            Loopbox.uninstall();
            while (Tasks.count("loopbox-") > 0) {
                Thread.sleep(1);
            }
            if (i % (times / 4) == 0) {
                Runtime.getRuntime().gc();
                say(i);
            }
        }
        Script.say("end");
        Runtime.getRuntime().halt(0);
    }

    private static void say(int installed) throws IOException {
        int mappings = 0;
        try (BufferedReader reader = new BufferedReader(new FileReader("/proc/self/maps"))) {
            while (reader.readLine() != null) {
                mappings++;
            }
        }
        int descriptors = new File("/proc/self/fd").list().length;
        File recorder = new File(System.getProperty("java.library.path"), "libloopbox.so");
        Script.say(
                "installed=" + installed + " malloc=" + Heap.mallocBytes() + " recorder="
                        + Heap.recorderBytes(recorder.getPath()) + " resident=" + resident()
                        + " descriptors=" + descriptors + " mappings=" + mappings);
    }

    private static long resident() throws IOException {
        try (BufferedReader reader = new BufferedReader(new FileReader("/proc/self/statm"))) {
            return Long.parseLong(reader.readLine().split(" ")[1]) * 4_096;
        }
    }
}
