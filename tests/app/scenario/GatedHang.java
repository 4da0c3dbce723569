package scenario;

import android.os.SystemClock;
import java.io.File;

/** The message that does not end before the given file exists. */
final class GatedHang implements Runnable {
    private final File gate;

    GatedHang(File gate) {
        this.gate = gate;
    }

    @Override
    public void run() {
        Script.say("begins");
        while (!gate.exists()) {
            SystemClock.sleep(5);
        }
        Script.say("went on");
    }
}
