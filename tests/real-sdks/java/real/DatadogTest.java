package real;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNotEquals;
import static org.junit.Assert.assertTrue;

import android.app.Application;
import android.os.Process;
import com.datadog.android.Datadog;
import com.datadog.android.core.configuration.Configuration;
import com.datadog.android.privacy.TrackingConsent;
import com.datadog.android.rum.GlobalRumMonitor;
import com.datadog.android.rum.Rum;
import com.datadog.android.rum.RumConfiguration;
import com.datadog.android.rum.RumErrorSource;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.loopbox.Report;
import io.loopbox.integration.datadog.LoopboxRum;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.Test;
import org.junit.runner.RunWith;
import org.robolectric.RobolectricTestRunner;
import org.robolectric.RuntimeEnvironment;
import org.robolectric.annotation.Config;
import org.robolectric.annotation.GraphicsMode;
import org.robolectric.annotation.SQLiteMode;
import org.robolectric.shadows.ShadowLooper;
import org.robolectric.shadows.ShadowProcess;

@RunWith(RobolectricTestRunner.class)
@Config(sdk = 34, manifest = Config.NONE)
@GraphicsMode(GraphicsMode.Mode.LEGACY)
@SQLiteMode(SQLiteMode.Mode.LEGACY)
public final class DatadogTest {
    private static final long LIMIT_NS = 60_000_000_000L;

    private final Application app = RuntimeEnvironment.getApplication();
    private final List<JsonObject> errors = new CopyOnWriteArrayList<>();
    private final List<JsonObject> views = new CopyOnWriteArrayList<>();

    @Test
    public void aHangIsAnErrorWithItsStackAndTheViewOfAHangHasItsDigest() throws Exception {
        Left left = Left.of(app, "pay", "feed", "older", "anr");
        assertFalse("Datadog is not there yet", LoopboxRum.addError(left.feed));
        start();
        GlobalRumMonitor.get().startView("home", "Home", Collections.emptyMap());
        for (Report report : Left.pending()) {
            assertEquals(report.getTitle(), report.getKind() == Report.Kind.HANG, LoopboxRum.addError(report));
            assertTrue("Datadog takes no files", report.getFile().exists());
        }
        await(errors, 3);
        List<JsonObject> pays = new ArrayList<>();
        JsonObject feed = null;
        for (JsonObject event : errors) {
            for (String user : Left.USERS) {
                assertFalse(user, event.toString().contains(user));
            }
            if (event.toString().contains("CardClient")) {
                pays.add(event);
            } else {
                feed = event;
            }
        }
        assertEquals(2, pays.size());
        String group = text(error(pays.get(0)), "fingerprint");
        assertEquals("one hang, one group", group, text(error(pays.get(1)), "fingerprint"));
        assertNotEquals("two hangs", text(error(feed), "fingerprint"), group);
        for (JsonObject pay : pays) {
            JsonObject context = pay.getAsJsonObject("context");
            Report report = report(left.pays, text(context, "loopbox.file"));
            // The SDK adds how far its server's clock is off, which it has from two readings of this
            // machine's: a busy machine may take a while between them.
            assertEquals((double) report.getTimeMs(), (double) pay.get("date").getAsLong(), 1_000.0);
            assertEquals("Hang", text(error(pay), "type"));
            assertEquals(report.getTitle(), text(error(pay), "message"));
            assertEquals(report.getDigest(), text(context, "loopbox.digest"));
            assertEquals(report.getAppVersion() + " (" + report.getAppVersionCode() + ")", text(context, "loopbox.version"));
            List<String> lines = new ArrayList<>();
            for (String line : text(error(pay), "stack").split("\n")) {
                if (line.startsWith("\tat ")) {
                    lines.add(line.substring(4));
                }
            }
            Expected.frames(report, lines);
        }
        assertTrue("not of this launch's view", with(views, "loopbox.digest").isEmpty());
        Report hang = left.pays.get(0);
        int own = Process.myPid();
        ShadowProcess.setPid(hang.getPid());
        new LoopboxRum().onFirstFile(hang);
        ShadowProcess.setPid(own);
        long end = System.nanoTime() + LIMIT_NS;
        while (with(views, "loopbox.digest").isEmpty() && System.nanoTime() < end) {
            Thread.sleep(20);
        }
        JsonObject view = with(views, "loopbox.digest").get(0);
        assertEquals("Home", text(view.getAsJsonObject("view"), "name"));
        assertEquals(hang.getDigest(), text(view.getAsJsonObject("context"), "loopbox.digest"));
        GlobalRumMonitor.get().startView("cart", "Cart", Collections.emptyMap());
        GlobalRumMonitor.get().addErrorWithStacktrace("later", RumErrorSource.SOURCE, "x", Collections.emptyMap());
        await(errors, 4);
        assertFalse("of a later view", errors.get(3).toString().contains("loopbox.digest"));
    }

    private void start() throws Exception {
        Datadog.initialize(
                app,
                new Configuration.Builder("pub0123456789abcdef0123456789abcdef", "prod", "", "shop").build(),
                TrackingConsent.GRANTED);
        Rum.enable(
                new RumConfiguration.Builder("8f2a9a8e-1111-2222-3333-444455556666")
                        .useCustomEndpoint("http://127.0.0.1:9/rum")
                        .trackNonFatalAnrs(false)
                        .setSessionSampleRate(100f)
                        .setErrorEventMapper(
                                event -> {
                                    errors.add(JsonParser.parseString(event.toJson().toString()).getAsJsonObject());
                                    return event;
                                })
                        .setViewEventMapper(
                                event -> {
                                    views.add(JsonParser.parseString(event.toJson().toString()).getAsJsonObject());
                                    return event;
                                })
                        .build());
        ShadowLooper.idleMainLooper();
    }

    private static void await(List<JsonObject> events, int wanted) throws InterruptedException {
        long end = System.nanoTime() + LIMIT_NS;
        while (events.size() < wanted && System.nanoTime() < end) {
            ShadowLooper.idleMainLooper();
            Thread.sleep(20);
        }
        assertTrue(events.size() + " of " + wanted, events.size() >= wanted);
    }

    private static List<JsonObject> with(List<JsonObject> events, String text) {
        List<JsonObject> found = new ArrayList<>();
        for (JsonObject event : events) {
            if (event.toString().contains(text)) {
                found.add(event);
            }
        }
        return found;
    }

    private static JsonObject error(JsonObject event) {
        return event.getAsJsonObject("error");
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
        return object.has(name) ? object.get(name).getAsString() : null;
    }
}
