package integrate;

import io.loopbox.integration.upload.MonitorPost;
import io.loopbox.internal.monitor.MonitorFiles;
import io.loopbox.internal.recording.MonitorSettings;
import io.loopbox.internal.monitor.MonitorUpload;
import java.io.File;
import java.net.URL;

/**
 * Writes a line for each of two days into a folder and sends the files until none is left. Arguments: the
 * server's URL, the folder.
 */
public final class MonitorUploads {
    private static final int PAUSE_MS = 20;

    private MonitorUploads() {}

    public static void main(String[] arguments) throws Exception {
        MonitorSettings settings = new MonitorSettings();
        settings.uploader = new MonitorPost(new URL(arguments[0]));
        MonitorFiles files = new MonitorFiles(new File(arguments[1]), settings);
        MonitorFiles.Base base =
                new MonitorFiles.Base() {
                    @Override
                    public String line(long lost) {
                        return "{\"base\":{}}";
                    }
                };
        for (String day : new String[] {"2026-11-21", "2026-11-22"}) {
            System.out.println("wrote " + files.append(day, "{\"day\":\"" + day + "\"}", base));
        }
        MonitorUpload upload = new MonitorUpload(files, settings);
        while (!files.list().isEmpty()) {
            upload.begin();
            Thread.sleep(PAUSE_MS);
        }
        System.out.println("all sent");
    }
}
