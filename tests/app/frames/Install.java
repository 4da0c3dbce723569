package frames;

import io.loopbox.Config;
import io.loopbox.Loopbox;
import java.io.File;

/**
 * Installs the recorder with the folder of the system property {@code loopbox.dir}. It samples as often as it
 * can.
 */
final class Install {
    private Install() {}

    static void fromProperties() {
        File directory = new File(System.getProperty("loopbox.dir"));
        Config config = new Config.Builder(directory).sampleOnsetMs(10).sampleIntervalMs(1).minSamples(1).build();
        if (!Loopbox.install(config).isOn()) {
            throw new IllegalStateException("not installed");
        }
    }
}
