package real;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNotEquals;
import static org.junit.Assert.assertTrue;

import android.app.Application;
import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.loopbox.Report;
import io.loopbox.integration.sentry.LoopboxExitProcessor;
import io.loopbox.integration.sentry.LoopboxHangs;
import io.sentry.Sentry;
import io.sentry.SentryOptions;
import io.sentry.android.core.SentryAndroid;
import java.util.ArrayList;
import java.util.List;
import org.junit.After;
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
public final class SentryTest {
    private static final String MAPPING = "8a258c81-641d-4e54-b06e-a0f56b1ee2ef";

    private final Application app = RuntimeEnvironment.getApplication();
    private SentryOptions options;

    private void start(Server server, boolean dropped) {
        SentryAndroid.init(
                app,
                o -> {
                    options = o;
                    o.setDsn(server.url().replace("http://", "http://key@") + "/1");
                    o.setRelease("com.example.shop@" + Left.NOW + "+" + Left.NOW_CODE);
                    o.setProguardUuid(MAPPING);
                    o.setEnableAutoSessionTracking(false);
                    o.setFlushTimeoutMillis(5_000);
                    o.addEventProcessor(new LoopboxExitProcessor(o.getMaxAttachmentSize()));
                    if (dropped) {
                        o.setBeforeSend((event, hint) -> null);
                    }
                });
        Sentry.addBreadcrumb("of this launch");
        Sentry.setTag("launch", "this");
    }

    @After
    public void close() {
        Sentry.close();
    }

    @Test
    public void aHangIsAnEventOfItsRun() throws Exception {
        Server server = new Server(200);
        Left left = Left.of(app, "pay", "feed", "older", "anr");
        List<Report> pending = Left.pending();
        start(server, false);
        LoopboxHangs hangs = new LoopboxHangs(options);
        for (Report report : pending) {
            boolean hang = report.getKind() == Report.Kind.HANG;
            assertEquals(report.getTitle(), hang, hangs.send(report));
            assertEquals("handed over", !hang, report.getFile().exists());
            assertFalse("once", hangs.send(report));
        }
        assertEquals(4, pending.size());
        List<JsonObject> pays = new ArrayList<>();
        JsonObject feed = null;
        for (String body : server.await(3, "\"AppHang\"")) {
            JsonObject event = event(body);
            assertTrue("the file is attached", body.contains("loopbox-") && body.contains(".lbx"));
            if (event.toString().contains("CardClient")) {
                pays.add(event);
            } else {
                feed = event;
            }
            for (String now : new String[] {"of this launch", "\"launch\"", Left.NOW, MAPPING, Left.USERS[0], Left.USERS[1]}) {
                assertFalse(now, event.toString().contains(now));
            }
        }
        assertEquals(2, pays.size());
        assertEquals("one hang, one group", pays.get(0).get("fingerprint"), pays.get(1).get("fingerprint"));
        assertNotEquals("two hangs", feed.get("fingerprint"), pays.get(0).get("fingerprint"));
        for (JsonObject pay : pays) {
            Report report = report(left.pays, pay);
            assertEquals("com.example.shop@" + report.getAppVersion() + "+" + report.getAppVersionCode(), text(pay, "release"));
            assertEquals(Long.toString(report.getAppVersionCode()), text(pay, "dist"));
            assertEquals(report.getTimeMs(), Expected.ms(text(pay, "timestamp")));
            JsonArray frames = hang(pay).getAsJsonObject("stacktrace").getAsJsonArray("frames");
            List<String> lines = new ArrayList<>();
            for (JsonElement each : frames) {
                JsonObject frame = each.getAsJsonObject();
                boolean isNative = frame.has("native") && frame.get("native").getAsBoolean();
                String place = isNative ? "Native Method" : text(frame, "filename") + ":" + frame.get("lineno");
                lines.add(0, text(frame, "module") + "." + text(frame, "function") + "(" + place + ")");
            }
            Expected.frames(report, lines);
            assertEquals("Hang", text(hang(pay), "type"));
            assertEquals(report.getTitle(), text(hang(pay), "value"));
        }
    }

    /**
     * A hang of the running version is sent with the id of this version's mapping, by which its frames are
     * retraced.
     */
    @Test
    public void aHangOfThisVersionHasItsMapping() throws Exception {
        Server server = new Server(200);
        Left left = Left.of(app, "older");
        start(server, false);
        options.setRelease("com.example.shop@" + Left.OLDER + "+410");
        assertTrue(new LoopboxHangs(options).send(left.pays.get(0)));
        assertTrue(server.await(1, "\"AppHang\"").get(0).contains(MAPPING));
    }

    @Test
    public void whatSentryDropsStaysThere() throws Exception {
        Left left = Left.of(app, "feed");
        start(new Server(200), true);
        assertFalse(new LoopboxHangs(options).send(left.feed));
        assertTrue(left.feed.getFile().exists());
    }

    @Test
    public void anAnrIsSentrysOwnEventWithTheFile() throws Exception {
        Server server = new Server(200);
        Left left = Left.of(app, "anr");
        left.ended(Expected.TRACE.replace("PID", "" + left.anr.getPid()));
        start(server, false);
        List<String> events = server.await(1, "AppExitInfo");
        assertEquals(1, events.size());
        assertFalse("no event besides it", new LoopboxHangs(options).send(left.anr));
        assertEquals(left.anr.getDigest(), text(event(events.get(0)).getAsJsonObject("extra"), "loopbox"));
        assertTrue(events.get(0).contains(".lbx"));
        assertEquals("no other event", 0, server.with("\"AppHang\"").size());
        Expected.gone();
    }

    /** The event in an envelope. The parts of an envelope are on separate lines. */
    private static JsonObject event(String body) {
        for (String line : body.split("\n")) {
            if (line.startsWith("{") && line.contains("\"exception\"")) {
                return JsonParser.parseString(line).getAsJsonObject();
            }
        }
        throw new AssertionError("no event in " + body);
    }

    private static JsonObject hang(JsonObject event) {
        return event.getAsJsonObject("exception").getAsJsonArray("values").get(0).getAsJsonObject();
    }

    private static Report report(List<Report> reports, JsonObject event) {
        for (Report report : reports) {
            if (text(event, "release").contains("@" + report.getAppVersion() + "+")) {
                return report;
            }
        }
        throw new AssertionError("of no report: " + event);
    }

    private static String text(JsonObject object, String name) {
        return object.has(name) ? object.get(name).getAsString() : null;
    }
}
