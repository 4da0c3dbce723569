package phone;

import android.os.SystemClock;
import io.loopbox.Loopbox;
import java.io.File;
import scenario.Script;

/** Requests a report on a separate thread when a file exists. */
final class GatedDump implements Runnable {
    private static final int PAUSE_MS = 5;

    private final File gate;

    GatedDump(File gate) {
        this.gate = gate;
    }

    @Override
    public void run() {
        while (!gate.exists()) {
            SystemClock.sleep(PAUSE_MS);
        }
        Script.say("dumped " + Loopbox.dump("meanwhile"));
    }
}
