package real;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNotNull;
import static org.junit.Assert.assertNull;

import android.os.Process;
import io.loopbox.Report;
import io.loopbox.integration.xcrash.LoopboxSection;
import io.loopbox.testing.ReportBuilder;
import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import org.junit.Test;
import org.junit.runner.RunWith;
import org.robolectric.RobolectricTestRunner;
import org.robolectric.RuntimeEnvironment;
import org.robolectric.annotation.Config;
import org.robolectric.annotation.GraphicsMode;
import org.robolectric.annotation.SQLiteMode;
import org.robolectric.shadows.ShadowProcess;
import xcrash.TombstoneParser;

@RunWith(RobolectricTestRunner.class)
@Config(sdk = 34, manifest = Config.NONE)
@GraphicsMode(GraphicsMode.Mode.LEGACY)
@SQLiteMode(SQLiteMode.Mode.LEGACY)
public final class XcrashTest {
    @Test
    public void aTombstoneHasASectionThatXcrashReads() throws Exception {
        Left left = Left.of(RuntimeEnvironment.getApplication(), "anr");
        assertNull("of an earlier process", section(left.anr));
        int own = Process.myPid();
        ShadowProcess.setPid(left.anr.getPid());
        String section = section(left.anr);
        ShadowProcess.setPid(own);
        assertEquals(left.anr.getDigest() + "\n" + left.anr.getFile().getName(), section.trim());
    }

    @Test
    public void aTombstoneHasNoSectionOfAnEarlierAnr() throws Exception {
        File folder = RuntimeEnvironment.getApplication().getFilesDir();
        ReportBuilder anr = new ReportBuilder().kind(Report.Kind.ANR).pid(Process.myPid());
        long now = System.currentTimeMillis();
        assertNotNull(section(anr.timeMs(now - 20_000).write(folder)));
        assertNull(section(anr.timeMs(now - 60_000).write(folder)));
    }

    /** The section in a tombstone that xCrash writes after the recorder has written this report. */
    private static String section(Report report) throws Exception {
        File tombstone = File.createTempFile("tombstone_0001_4.2.0__com.example.shop", ".anr.xcrash");
        String head = "*** ***\nTombstone maker: 'xCrash 3.1.0'\nCrash type: 'anr'\n";
        Files.write(tombstone.toPath(), head.getBytes(StandardCharsets.UTF_8));
        LoopboxSection section = new LoopboxSection();
        section.onFirstFile(report);
        section.onCrash(tombstone.getPath(), null);
        return TombstoneParser.parse(tombstone).get("loopbox");
    }
}
