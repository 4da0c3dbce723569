package real;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNull;

import android.os.Process;
import io.loopbox.integration.xcrash.LoopboxSection;
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
        assertNull("of an earlier process", parsed(new LoopboxSection(), left));
        int own = Process.myPid();
        ShadowProcess.setPid(left.anr.getPid());
        String section = parsed(new LoopboxSection(), left);
        ShadowProcess.setPid(own);
        assertEquals(left.anr.getDigest() + "\n" + left.anr.getFile().getName(), section.trim());
    }

    private static String parsed(LoopboxSection section, Left left) throws Exception {
        File tombstone = File.createTempFile("tombstone_0001_4.2.0__com.example.shop", ".anr.xcrash");
        String head = "*** ***\nTombstone maker: 'xCrash 3.1.0'\nCrash type: 'anr'\n";
        Files.write(tombstone.toPath(), head.getBytes(StandardCharsets.UTF_8));
        section.onFirstFile(left.anr);
        section.onCrash(tombstone.getPath(), null);
        return TombstoneParser.parse(tombstone).get("loopbox");
    }
}
