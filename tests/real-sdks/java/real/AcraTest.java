package real;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNotEquals;
import static org.junit.Assert.assertTrue;

import android.app.Application;
import android.content.Context;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.loopbox.Report;
import io.loopbox.integration.acra.LoopboxData;
import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.acra.ACRA;
import org.acra.ReportField;
import org.acra.config.CoreConfigurationBuilder;
import org.acra.data.StringFormat;
import org.junit.Test;
import org.junit.runner.RunWith;
import org.robolectric.RobolectricTestRunner;
import org.robolectric.RuntimeEnvironment;
import org.robolectric.annotation.Config;
import org.robolectric.annotation.GraphicsMode;
import org.robolectric.annotation.SQLiteMode;
import org.robolectric.shadows.ShadowLooper;

@RunWith(RobolectricTestRunner.class)
@Config(sdk = 34, manifest = Config.NONE)
@GraphicsMode(GraphicsMode.Mode.LEGACY)
@SQLiteMode(SQLiteMode.Mode.LEGACY)
public final class AcraTest {
    private static final long LIMIT_NS = 60_000_000_000L;

    private final Application app = RuntimeEnvironment.getApplication();

    @Test
    public void aHangIsASilentReportAndALaterCrashHasNothingOfIt() throws Exception {
        Left left = Left.of(app, "pay", "feed", "older", "anr");
        assertFalse("ACRA is not there yet", LoopboxData.send(left.feed));
        CoreConfigurationBuilder configuration = new CoreConfigurationBuilder();
        configuration.withReportFormat(StringFormat.JSON).withParallel(false).withBuildConfigClass(Build.class);
        configuration.withReportContent(Arrays.asList(ReportField.values()));
        ACRA.init(app, configuration.build());
        ACRA.getErrorReporter().putCustomData("loopbox_kind", "the app's own");
        for (Report report : Left.pending()) {
            assertTrue(report.getTitle(), LoopboxData.send(report));
            assertTrue("ACRA takes no files", report.getFile().exists());
        }
        ACRA.getErrorReporter().handleException(new IllegalStateException("of this launch"), false);
        List<JsonObject> pays = new ArrayList<>();
        JsonObject feed = null;
        JsonObject crash = null;
        for (JsonObject report : reports(5)) {
            String stack = text(report, "STACK_TRACE");
            assertNotEquals("a stack has a hash", "0", text(report, "STACK_TRACE_HASH"));
            for (String user : Left.USERS) {
                assertFalse(user, report.toString().contains(user));
            }
            if (stack.contains("of this launch")) {
                crash = report;
            } else if (stack.contains("CardClient")) {
                pays.add(report);
            } else {
                feed = report;
            }
        }
        assertEquals(3, pays.size());
        left.pays.add(left.anr);
        for (JsonObject pay : pays) {
            assertEquals("one hang, one group", text(pays.get(0), "STACK_TRACE_HASH"), text(pay, "STACK_TRACE_HASH"));
            JsonObject data = pay.getAsJsonObject("CUSTOM_DATA");
            Report report = report(left.pays, text(data, "loopbox_file"));
            assertEquals(report.getDigest(), text(data, "loopbox"));
            assertEquals(report.getKind().name(), text(data, "loopbox_kind"));
            assertEquals(report.getAppVersion() + " (" + report.getAppVersionCode() + ")", text(data, "loopbox_version"));
            assertEquals(Long.toString(report.getTimeMs()), text(data, "loopbox_time_ms"));
            List<String> lines = new ArrayList<>();
            for (String line : text(pay, "STACK_TRACE").split("\n")) {
                if (line.startsWith("\tat ")) {
                    lines.add(line.substring(4));
                }
            }
            Expected.frames(report, lines);
        }
        assertNotEquals("two hangs", text(feed, "STACK_TRACE_HASH"), text(pays.get(0), "STACK_TRACE_HASH"));
        assertEquals("{\"loopbox_kind\":\"the app's own\"}", crash.get("CUSTOM_DATA").toString());
    }

    /** The reports that ACRA has written to be sent. */
    private List<JsonObject> reports(int wanted) throws Exception {
        long end = System.nanoTime() + LIMIT_NS;
        List<JsonObject> found = new ArrayList<>();
        while (found.size() < wanted && System.nanoTime() < end) {
            ShadowLooper.idleMainLooper();
            Thread.sleep(20);
            found.clear();
            for (String folder : new String[] {"ACRA-approved", "ACRA-unapproved"}) {
                for (File file : app.getDir(folder, Context.MODE_PRIVATE).listFiles()) {
                    String text = new String(Files.readAllBytes(file.toPath()), StandardCharsets.UTF_8);
                    if (text.endsWith("}")) {
                        found.add(JsonParser.parseString(text).getAsJsonObject());
                    }
                }
            }
        }
        assertEquals(wanted, found.size());
        return found;
    }

    private static Report report(List<Report> reports, String name) {
        for (Report report : reports) {
            if (report.getFile().getName().equals(name)) {
                return report;
            }
        }
        throw new AssertionError("of no report: " + name);
    }

    private static String text(JsonObject object, String name) {
        return object.get(name).getAsString();
    }

    /** Replaces the class {@code BuildConfig} that the build of an app makes. */
    public static final class Build {
        public static final boolean DEBUG = false;
        public static final String VERSION_NAME = Left.NOW;
    }
}
