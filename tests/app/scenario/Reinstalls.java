package scenario;

import android.os.Looper;
import io.loopbox.Loopbox;
import java.io.BufferedReader;
import java.io.File;
import java.io.FileReader;
import java.io.IOException;

/**
 * Installs and uninstalls the recorder {@code times=} times. After each quarter it prints how many bytes the
 * process has from malloc, how many of these are the recorder's, the resident memory, and the number of
 * mappings. It continues only when there are no more open descriptors than after the first quarter.
 */
public final class Reinstalls {
    private static int descriptors;

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

    private static void say(int installed) throws Exception {
        awaitDescriptors();
        int mappings = 0;
        try (BufferedReader reader = new BufferedReader(new FileReader("/proc/self/maps"))) {
            while (reader.readLine() != null) {
                mappings++;
            }
        }
        File recorder = new File(System.getProperty("java.library.path"), "libloopbox.so");
        Script.say(
                "installed=" + installed + " malloc=" + Heap.mallocBytes() + " recorder="
                        + leastBytes(recorder.getPath()) + " resident=" + resident()
                        + " mappings=" + mappings);
    }

    /**
     * The recorder's bytes from malloc: the least of 20 readings, so that memory in use only for a moment
     * does not count.
     */
    private static long leastBytes(String recorder) throws Exception {
        long least = Long.MAX_VALUE;
        for (int reading = 0; reading < 20; reading++) {
            least = Math.min(least, Heap.recorderBytes(recorder));
            Thread.sleep(10);
        }
        return least;
    }

    /**
     * Waits until there are no more descriptors than after the first quarter: one may be open for a moment,
     * but none may stay.
     */
    private static void awaitDescriptors() throws Exception {
        File folder = new File("/proc/self/fd");
        if (descriptors == 0) {
            descriptors = folder.list().length;
        }
        for (String[] now = folder.list(); now.length > descriptors; now = folder.list()) {
            StringBuilder line = new StringBuilder("too many:");
            for (String name : now) {
                line.append(' ').append(new File(folder, name).getCanonicalPath());
            }
            Script.say(line.toString());
            Thread.sleep(100);
        }
    }

    private static long resident() throws IOException {
        try (BufferedReader reader = new BufferedReader(new FileReader("/proc/self/statm"))) {
            return Long.parseLong(reader.readLine().split(" ")[1]) * 4_096;
        }
    }
}
