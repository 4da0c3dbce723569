package real;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNotEquals;
import static org.junit.Assert.assertTrue;

import android.app.Application;
import com.bugsnag.android.Bugsnag;
import com.bugsnag.android.Configuration;
import com.bugsnag.android.EndpointConfiguration;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.loopbox.Report;
import io.loopbox.integration.bugsnag.LoopboxHangs;
import io.loopbox.integration.bugsnag.LoopboxTab;
import java.util.ArrayList;
import java.util.Date;
import java.util.List;
import org.junit.Test;
import org.junit.runner.RunWith;
import org.robolectric.RobolectricTestRunner;
import org.robolectric.RuntimeEnvironment;
import org.robolectric.annotation.Config;
import org.robolectric.annotation.GraphicsMode;
import org.robolectric.annotation.SQLiteMode;

@RunWith(RobolectricTestRunner.class)
@Config(sdk = 34, manifest = Config.NONE)
@GraphicsMode(GraphicsMode.Mode.LEGACY)
@SQLiteMode(SQLiteMode.Mode.LEGACY)
public final class BugsnagTest {
    private final Application app = RuntimeEnvironment.getApplication();
    private boolean refused;

    /**
     * The time at which an ANR has ended, or 0. If it is not 0, events are changed as
     * bugsnag-plugin-android-exitinfo changes them for that ANR.
     */
    private long anrMs;

    @Test
    public void aHangIsAnEventOfItsRunAndAnAnrHasTheTab() throws Exception {
        Server server = new Server(202);
        Left left = Left.of(app, "pay", "feed", "older", "anr");
        LoopboxHangs hangs = new LoopboxHangs("cart");
        assertFalse("Bugsnag is not there yet", hangs.send(left.feed));
        start(server);
        refused = true;
        assertFalse("refused by the app", hangs.send(left.feed));
        refused = false;
        for (Report report : Left.pending()) {
            assertEquals(report.getTitle(), report.getKind() == Report.Kind.HANG, hangs.send(report));
            assertTrue("Bugsnag takes no files", report.getFile().exists());
        }
        List<JsonObject> pays = new ArrayList<>();
        JsonObject feed = null;
        assertEquals(3, server.await(3, "\"Hang\"").size());
        for (String body : server.bodies) {
            for (String now : new String[] {"of this launch", Left.NOW, "user of now", Left.USERS[0], Left.USERS[1]}) {
                assertFalse(now, body.contains(now));
            }
            JsonObject event = event(body);
            if (body.contains("CardClient")) {
                pays.add(event);
            } else {
                feed = event;
            }
        }
        assertEquals(2, pays.size());
        assertEquals("one hang, one group", pays.get(0).get("groupingHash"), pays.get(1).get("groupingHash"));
        assertNotEquals("two hangs", feed.get("groupingHash"), pays.get(0).get("groupingHash"));
        for (JsonObject pay : pays) {
            JsonObject ran = pay.getAsJsonObject("app");
            Report report = report(left.pays, ran);
            assertEquals(report.getAppVersionCode(), ran.get("versionCode").getAsLong());
            assertFalse("of another build", ran.has("buildUUID"));
            String time = pay.getAsJsonObject("device").get("time").getAsString();
            assertEquals(report.getTimeMs(), Expected.ms(time));
            JsonObject hang = pay.getAsJsonArray("exceptions").get(0).getAsJsonObject();
            assertEquals("Hang", hang.get("errorClass").getAsString());
            assertEquals(report.getTitle(), hang.get("message").getAsString());
            List<String> lines = new ArrayList<>();
            for (JsonElement each : hang.getAsJsonArray("stacktrace")) {
                JsonObject frame = each.getAsJsonObject();
                int line = frame.get("lineNumber").getAsInt();
                String place = line == -2 ? "Native Method" : frame.get("file").getAsString() + ":" + line;
                lines.add(frame.get("method").getAsString() + "(" + place + ")");
            }
            Expected.frames(report, lines);
            String digest = pay.getAsJsonObject("metaData").getAsJsonObject("loopbox").get("digest").getAsString();
            assertEquals(report.getDigest(), digest);
        }
        anrMs = left.ended(Expected.TRACE.replace("PID", "" + left.anr.getPid()));
        Bugsnag.notify(new IllegalStateException("did not respond"));
        JsonObject anr = event(server.await(1, "did not respond").get(0));
        JsonObject tab = anr.getAsJsonObject("metaData").getAsJsonObject("loopbox");
        assertEquals("Bugsnag's own event", left.anr.getDigest(), tab.get("digest").getAsString());
        assertEquals(left.anr.getFile().getName(), tab.get("file").getAsString());
    }

    private static JsonObject event(String body) {
        return JsonParser.parseString(body).getAsJsonObject().getAsJsonArray("events").get(0).getAsJsonObject();
    }

    private void start(Server server) {
        Configuration configuration = new Configuration("0123456789abcdef0123456789abcdef");
        configuration.setEndpoints(new EndpointConfiguration(server.url() + "/notify", server.url() + "/sessions"));
        configuration.setAutoTrackSessions(false);
        configuration.setAppVersion(Left.NOW);
        configuration.setVersionCode((int) Left.NOW_CODE);
        configuration.setUser("user of now", null, null);
        configuration.addOnError(
                event -> {
                    if (anrMs != 0) {
                        event.getErrors().get(0).setErrorClass("ANR");
                        event.getDevice().setTime(new Date(anrMs));
                    }
                    return !refused;
                });
        LoopboxTab tab = new LoopboxTab();
        configuration.addOnError(tab);
        configuration.addOnSend(tab);
        Bugsnag.start(app, configuration);
        Bugsnag.leaveBreadcrumb("of this launch");
        Bugsnag.addFeatureFlag("of this launch");
        Bugsnag.addMetadata("cart", "rows", "of this launch");
        Bugsnag.setContext("of this launch");
    }

    private static Report report(List<Report> reports, JsonObject app) {
        for (Report report : reports) {
            if (report.getAppVersion().equals(app.get("version").getAsString())) {
                return report;
            }
        }
        throw new AssertionError("of no report: " + app);
    }
}
