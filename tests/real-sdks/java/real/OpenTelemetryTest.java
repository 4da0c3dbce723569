package real;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNotEquals;
import static org.junit.Assert.assertTrue;

import io.loopbox.Report;
import io.loopbox.integration.opentelemetry.LoopboxLogRecords;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.logs.Severity;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.context.Scope;
import io.opentelemetry.sdk.logs.SdkLoggerProvider;
import io.opentelemetry.sdk.logs.data.LogRecordData;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
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
public final class OpenTelemetryTest {
    @Test
    public void aHangIsARecordOfItsRun() throws Exception {
        Left left = Left.of(RuntimeEnvironment.getApplication(), "pay", "feed", "older", "anr");
        List<LogRecordData> records = new ArrayList<>();
        SdkLoggerProvider provider =
                SdkLoggerProvider.builder()
                        .addLogRecordProcessor((context, record) -> records.add(record.toLogRecordData()))
                        .build();
        SpanContext now =
                SpanContext.create(
                        "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331", TraceFlags.getSampled(), TraceState.getDefault());
        try (Scope open = Span.wrap(now).makeCurrent()) {
            for (Report report : Left.pending()) {
                assertTrue(report.getTitle(), LoopboxLogRecords.emit(report, provider));
                assertTrue("a record takes no files", report.getFile().exists());
            }
        }
        assertEquals(4, records.size());
        List<Report> pays = new ArrayList<>(left.pays);
        pays.add(left.anr);
        LogRecordData feed = null;
        List<String> groups = new ArrayList<>();
        for (LogRecordData record : records) {
            assertEquals(Severity.ERROR, record.getSeverity());
            assertFalse("of a span of this launch", record.getSpanContext().isValid());
            for (String user : Left.USERS) {
                assertFalse(user, record.toString().contains(user));
            }
            if (!text(record, "exception.stacktrace").contains("CardClient")) {
                feed = record;
                continue;
            }
            Report report = report(pays, text(record, "loopbox.file"));
            boolean anr = report.getKind() == Report.Kind.ANR;
            assertEquals(anr ? "loopbox.anr" : "loopbox.hang", record.getEventName());
            assertEquals(anr ? "ANR" : "Hang", text(record, "exception.type"));
            assertEquals(TimeUnit.MILLISECONDS.toNanos(report.getTimeMs()), record.getTimestampEpochNanos());
            assertEquals(report.getTitle(), record.getBodyValue().asString());
            assertEquals(report.getDigest(), text(record, "loopbox.digest"));
            assertEquals(report.getAppVersion(), text(record, "service.version"));
            List<String> lines = new ArrayList<>();
            for (String line : text(record, "exception.stacktrace").split("\n")) {
                if (line.startsWith("\tat ")) {
                    lines.add(line.substring(4));
                }
            }
            Expected.frames(report, lines);
            groups.add(text(record, "loopbox.fingerprint"));
        }
        assertEquals(3, groups.size());
        for (String group : groups) {
            assertEquals("one hang, one group", groups.get(0), group);
        }
        assertNotEquals("two hangs", text(feed, "loopbox.fingerprint"), groups.get(0));
    }

    /** Writes the frames that were sent to a file, for R8's Retrace, which the calling test runs. */
    @Test
    public void framesOfAReleaseAreSentAsTheyAre() throws Exception {
        Left.of(RuntimeEnvironment.getApplication(), "shrunk");
        List<LogRecordData> records = new ArrayList<>();
        SdkLoggerProvider provider =
                SdkLoggerProvider.builder()
                        .addLogRecordProcessor((context, record) -> records.add(record.toLogRecordData()))
                        .build();
        assertTrue(LoopboxLogRecords.emit(Left.pending().get(0), provider));
        String stack = text(records.get(0), "exception.stacktrace");
        Files.write(Paths.get(System.getProperty("user.dir"), "shrunk.txt"), stack.getBytes(StandardCharsets.UTF_8));
    }

    private static Report report(List<Report> reports, String name) {
        for (Report report : reports) {
            if (report.getFile().getName().equals(name)) {
                return report;
            }
        }
        throw new AssertionError("of no report: " + name);
    }

    private static String text(LogRecordData record, String name) {
        return record.getAttributes().get(AttributeKey.stringKey(name));
    }
}
