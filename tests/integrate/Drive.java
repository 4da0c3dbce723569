package integrate;

import android.os.Looper;
import io.loopbox.Config;
import io.loopbox.Loopbox;
import io.loopbox.sample.Hangs;
import java.io.File;

/** Uses the sample's hangs as its user would. Arguments: which one, and the folder. */
public final class Drive implements Runnable {
    private final Hangs.Kind kind;
    private final File folder;

    private Drive(Hangs.Kind kind, File folder) {
        this.kind = kind;
        this.folder = folder;
    }

    public static void main(String[] arguments) {
        Looper.prepareMainLooper();
        File folder = new File(arguments[1]);
        say("status " + Loopbox.install(new Config.Builder(folder).build()).isOn());
        new Thread(new Drive(Hangs.Kind.valueOf(arguments[0]), folder), "drive").start();
        Looper.loop();
    }

    private static void say(String line) {
        System.out.println("SCRIPT " + line);
        System.out.flush();
    }

    @Override
    public void run() {
        try {
            new Hangs(folder).provoke(kind, 3_000);
            Thread.sleep(1_500);
            say("dumped " + (Loopbox.dump(kind.name()) != null));
            Runtime.getRuntime().halt(0);
        } catch (Throwable fault) {
            fault.printStackTrace();
            Runtime.getRuntime().halt(1);
        }
    }
}
