package scenario;

import android.os.SystemClock;
import io.loopbox.MonitorUploader;
import io.loopbox.internal.monitor.MonitorFiles;
import io.loopbox.internal.monitor.MonitorUpload;
import io.loopbox.internal.recording.MonitorSettings;
import java.io.File;

/**
 * Sends the monitor's files in the folder {@code dir=}, and tries again until none is left. Each upload lasts
 * until the file {@code gate=} is there.
 */
public final class MonitorSends implements MonitorUploader {
    private final File gate;

    private MonitorSends(File gate) {
        this.gate = gate;
    }

    /** Runs until no file is left. */
    public static void main(String[] arguments) {
        Options options = new Options(arguments);
        MonitorSettings settings = new MonitorSettings();
        settings.uploader = new MonitorSends(new File(options.text("gate", ".")));
        MonitorFiles files = new MonitorFiles(new File(options.text("dir", ".")), settings);
        MonitorUpload upload = new MonitorUpload(files, settings);
        for (int tried = 1; !files.list().isEmpty(); tried++) {
            upload.begin();
            SystemClock.sleep(50);
            Script.say("tried " + tried);
        }
        Script.say("none is left");
        Runtime.getRuntime().halt(0);
    }

    @Override
    public boolean upload(File gzip, String day) {
        Script.say("sends " + gzip.getName());
        while (!gate.exists()) {
            SystemClock.sleep(5);
        }
        return true;
    }
}
