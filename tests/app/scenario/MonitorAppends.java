package scenario;

import io.loopbox.internal.monitor.MonitorFiles;
import io.loopbox.internal.recording.MonitorSettings;
import java.io.File;

/**
 * Appends numbered lines to the file of one day in the folder {@code dir=}, and prints after each that it is
 * written, until it is killed. {@code run=} is in each line.
 */
public final class MonitorAppends {
    private MonitorAppends() {}

    /** Runs until it is killed. */
    public static void main(String[] arguments) {
        Options options = new Options(arguments);
        MonitorSettings settings = new MonitorSettings();
        settings.maxBytes = 64 << 20;
        MonitorFiles files = new MonitorFiles(new File(options.text("dir", ".")), settings);
        StringBuilder text = new StringBuilder();
        for (int at = 0; at < 1_000; at++) {
            text.append('\u5361');
        }
        final String run = options.text("run", "0");
        MonitorFiles.Base base =
                new MonitorFiles.Base() {
                    @Override
                    public String line(long lost) {
                        return "{\"v\":1,\"run\":" + run + ",\"lost\":" + lost + ",\"base\":{}}";
                    }
                };
        for (long number = 1; ; number++) {
            String line = "{\"v\":1,\"run\":" + run + ",\"n\":" + number + ",\"text\":\"" + text + "\"}";
            Script.say((files.append("2026-11-22", line, base) ? "wrote " : "did not write ") + number);
        }
    }
}
