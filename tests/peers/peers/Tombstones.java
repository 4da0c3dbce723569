package peers;

import android.content.Context;
import android.content.pm.ApplicationInfo;
import io.loopbox.integration.xcrash.LoopboxSection;
import java.io.File;
import java.util.concurrent.atomic.AtomicInteger;
import xcrash.XCrash;

/**
 * xCrash with its native library, at its defaults. It stays until the process ends: it takes SIGQUIT and the
 * signals of crashes, writes a file for each, and passes SIGQUIT on to the Signal Catcher.
 */
final class Tombstones {
    /** Appends the recorder's digest to the file of an ANR. */
    final LoopboxSection section = new LoopboxSection();

    private final AtomicInteger anrs = new AtomicInteger();

    /** The app that it watches. */
    final AppContext app;

    private final File folder;

    /** xCrash will write its files into {@code folder}. */
    Tombstones(File folder) {
        this.folder = folder;
        app = new App(folder);
    }

    /** Installs the library for the life of the process. */
    void install() {
        XCrash.InitParameters parameters = new XCrash.InitParameters()
                .setLogDir(new File(folder, "tombstones").getPath())
                .setAnrCallback((path, emergency) -> {
                    section.onCrash(path, emergency);
                    anrs.incrementAndGet();
                });
        int error = XCrash.init(app, parameters);
        if (error != 0) {
            throw new AssertionError("xCrash: " + error);
        }
    }

    /** Waits until xCrash has reported this many ANRs since the process started. */
    void await(int reported) {
        while (anrs.get() < reported) {
            Peer.sleep(5);
        }
    }

    /**
     * The app's Context. Its ActivityManager reports that the app does not respond, because xCrash asks for
     * that before it reports an ANR.
     */
    private static final class App extends AppContext {
        App(File folder) {
            super(folder);
        }

        @Override public ApplicationInfo getApplicationInfo() {
            ApplicationInfo info = super.getApplicationInfo();
            try {
                // The class that this is compiled against has no such field.
                ApplicationInfo.class.getField("nativeLibraryDir").set(info, System.getProperty("xcrash.libraries"));
            } catch (ReflectiveOperationException gone) {
                throw new AssertionError(gone);
            }
            return info;
        }

        @Override public Object getSystemService(String name) {
            return Context.ACTIVITY_SERVICE.equals(name) ? Peer.context.getSystemService(name) : super.getSystemService(name);
        }
    }
}
