package peers;

import android.os.Handler;
import android.os.Looper;
import java.io.BufferedReader;
import java.io.File;
import java.io.FileReader;
import java.io.IOException;

/**
 * How often main and all threads together are woken in an app that does nothing, while a peer watches it.
 * Arguments: the peer, or {@code none}; the time to count for, in milliseconds. Prints both counts, by the
 * kernel ({@code voluntary_ctxt_switches}).
 */
public final class Idle {
    /** A time in milliseconds after which all threads have gone to sleep. */
    private static final int SETTLE_MS = 3_000;

    private Idle() {}

    public static void main(String[] arguments) throws Exception {
        Looper.prepareMainLooper();
        if (!arguments[0].equals("none") && !Peer.of(arguments[0]).install()) {
            Peer.say("refused", arguments[0]);
            Runtime.getRuntime().halt(0);
        }
        final int ms = Integer.parseInt(arguments[1]);
        new Thread("counts") {
            @Override public void run() {
                Peer.sleep(SETTLE_MS);
                long main = woken(true);
                long all = woken(false);
                Peer.sleep(ms);
                Peer.say("woken", (woken(true) - main) + " " + (woken(false) - all));
                Runtime.getRuntime().halt(0);
            }
        }.start();
        // A message, after which a hook has nothing more to set up.
        new Handler(Looper.getMainLooper()).post(() -> {});
        Looper.loop();
    }

    /**
     * With {@code ofMain}, how often main was woken. Otherwise, how often all threads together were woken,
     * except for the thread that counts.
     */
    private static long woken(boolean ofMain) {
        long sum = 0;
        for (File task : new File("/proc/self/task").listFiles()) {
            String name = after(new File(task, "status"), "Name:");
            boolean isMain = after(new File(task, "status"), "Pid:").equals(after(new File("/proc/self/status"), "Tgid:"));
            if (ofMain ? isMain : !name.equals("counts")) {
                sum += Long.parseLong(after(new File(task, "status"), "voluntary_ctxt_switches:"));
            }
        }
        return sum;
    }

    private static String after(File file, String prefix) {
        try (BufferedReader lines = new BufferedReader(new FileReader(file))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                if (line.startsWith(prefix)) {
                    return line.substring(prefix.length()).trim();
                }
            }
        } catch (IOException gone) {
            return "0";
        }
        return "0";
    }
}
