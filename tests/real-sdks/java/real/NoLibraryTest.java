package real;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;

import android.app.Application;
import io.loopbox.Loopbox;
import io.loopbox.Status;
import org.junit.Test;
import org.junit.runner.RunWith;
import org.robolectric.RobolectricTestRunner;
import org.robolectric.RuntimeEnvironment;
import org.robolectric.annotation.Config;
import org.robolectric.annotation.GraphicsMode;
import org.robolectric.annotation.SQLiteMode;

/** The recorder in an app's own unit tests: there is no native library for the machine that they run on. */
@RunWith(RobolectricTestRunner.class)
@Config(sdk = 34, manifest = Config.NONE)
@GraphicsMode(GraphicsMode.Mode.LEGACY)
@SQLiteMode(SQLiteMode.Mode.LEGACY)
public final class NoLibraryTest {
    @Test
    public void theStatusSaysThatThereIsNoLibraryAndNothingThrows() {
        Application app = RuntimeEnvironment.getApplication();
        Status status = Loopbox.install(app, new io.loopbox.Config.Builder().build());
        assertFalse(status.isOn());
        assertTrue(status.getReason(), status.getReason().startsWith("java.lang.UnsatisfiedLinkError: no loopbox in"));
        assertEquals(status.getReason(), Loopbox.status().getReason());
        Loopbox.pause();
        Loopbox.resume();
        Loopbox.scene("checkout");
        assertNull(Loopbox.dump("a unit test"));
        assertTrue(Loopbox.pendingReports().isEmpty());
        Loopbox.uninstall();
    }
}
