package real;

import static org.robolectric.Shadows.shadowOf;

import android.app.ActivityManager;
import android.app.Application;
import android.app.ApplicationExitInfo;
import android.content.Context;
import io.loopbox.Config;
import io.loopbox.Loopbox;
import io.loopbox.Report;
import io.loopbox.internal.platform.ContextFramework;
import io.loopbox.internal.recording.Recording;
import java.io.ByteArrayInputStream;
import java.io.File;
import java.lang.reflect.Field;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import org.robolectric.shadows.ShadowActivityManager;

/**
 * Reports that earlier processes left, of real hangs on a testbed: "pay" and "older" are of the same hang
 * ("older" by an older version, with another annotation, and longer); "feed" is of another hang; "anr" is of
 * an ANR in the hang of "pay".
 */
final class Left {
    static final String OLDER = "4.1.0";

    /** The version that is running now. The reports that were left come from other versions. */
    static final String NOW = "4.3.0";

    static final long NOW_CODE = 430;

    /** The users in annotations. No event may contain them: annotations are not sent. */
    static final String[] USERS = {"u-7781", "u-9902"};

    final List<Report> pays = new ArrayList<>();
    Report feed;
    Report anr;
    private final Application app;

    private Left(Application app) {
        this.app = app;
    }

    /**
     * The state of the app at a start, after the processes of {@code runs} have left their reports. This
     * process has only the recorder's Java half, without the native library: nothing is recorded, but the
     * reports can be read.
     */
    static Left of(Application app, String... runs) throws Exception {
        File folder = new File(app.getFilesDir(), "loopbox");
        Files.createDirectories(folder.toPath());
        for (String run : runs) {
            for (File file : new File(System.getProperty("reports"), run).listFiles()) {
                if (file.getName().endsWith(".lbx")) {
                    Files.copy(file.toPath(), new File(folder, file.getName()).toPath());
                }
            }
        }
        Loopbox.install(app, new Config.Builder(folder).build());
        // Set where the native library is loaded.
        Field framework = Recording.class.getDeclaredField("framework");
        framework.setAccessible(true);
        framework.set(null, new ContextFramework(app));
        Left left = new Left(app);
        for (Report report : Loopbox.pendingReports()) {
            if (report.getKind() == Report.Kind.ANR) {
                left.anr = report;
            } else if (report.getTitle().contains("CardClient")) {
                left.pays.add(report);
            } else {
                left.feed = report;
            }
        }
        return left;
    }

    /**
     * Makes the system record that the ANR ended its process. Returns the time of that end, in ms since 1970.
     */
    long ended(String trace) throws Exception {
        long at = anr.getTimeMs() + 7_345;
        ActivityManager manager = (ActivityManager) app.getSystemService(Context.ACTIVITY_SERVICE);
        shadowOf(manager)
                .addApplicationExitInfo(
                        ShadowActivityManager.ApplicationExitInfoBuilder.newBuilder()
                                .setPid(anr.getPid())
                                .setProcessName(anr.getProcessName())
                                .setTimestamp(at)
                                .setReason(ApplicationExitInfo.REASON_ANR)
                                .setImportance(ActivityManager.RunningAppProcessInfo.IMPORTANCE_FOREGROUND)
                                .setDescription("user request after error: Input dispatching timed out")
                                .setTraceInputStream(new ByteArrayInputStream(trace.getBytes("UTF-8")))
                                .build());
        return at;
    }

    static List<Report> pending() {
        return Loopbox.pendingReports();
    }
}
