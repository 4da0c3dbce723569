package integrate;

import android.os.Looper;
import io.loopbox.Config;
import io.loopbox.Listener;
import io.loopbox.Loopbox;
import io.loopbox.Report;
import io.loopbox.sample.Hangs;
import java.io.File;

/**
 * Uses the sample's hangs as its user would, and requests reports until one is about the hang. Arguments:
 * which hang, and the folder.
 */
public final class Drive implements Runnable, Listener {
    /**
     * How long a hang lasts, in milliseconds: longer than the requests for reports take on a busy machine.
     */
    private static final long HANG_MS = 60_000;

    private static final long PAUSE_MS = 1_500;

    private final Hangs.Kind kind;
    private final File folder;

    private Drive(Hangs.Kind kind, File folder) {
        this.kind = kind;
        this.folder = folder;
    }

    public static void main(String[] arguments) {
        Looper.prepareMainLooper();
        File folder = new File(arguments[1]);
        Drive drive = new Drive(Hangs.Kind.valueOf(arguments[0]), folder);
        say("status " + Loopbox.install(new Config.Builder(folder).listener(drive).build()).isOn());
        new Thread(drive, "drive").start();
        Looper.loop();
    }

    private static void say(String line) {
        System.out.println("SCRIPT " + line);
        System.out.flush();
    }

    @Override
    public void run() {
        try {
            new Hangs(folder).provoke(kind, HANG_MS);
            while (true) {
                Thread.sleep(PAUSE_MS);
                Loopbox.dump(kind.name());
            }
        } catch (Throwable fault) {
            fault.printStackTrace();
            Runtime.getRuntime().halt(1);
        }
    }

    @Override
    public void onReport(Report report) {
        // A sampler that has had no processor yet has no stack to give, and a flood has none.
        if (kind == Hangs.Kind.FLOOD || report.getDigest().contains("Hangs$")) {
            say("reported " + report.getFile());
            Runtime.getRuntime().halt(0);
        }
    }
}
