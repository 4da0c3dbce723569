package scenario;

import android.os.Handler;
import android.os.Looper;
import io.loopbox.Loopbox;

/** A main thread that rests in its queue until the process is killed. Arguments: those of {@link Options}. */
public final class Resting {
    private Resting() {}

    /** Installs the recorder, says so from a message, and rests. */
    public static void main(String[] arguments) {
        Looper.prepareMainLooper();
        if (!Loopbox.install(new Options(arguments).config().build()).isOn()) {
            throw new AssertionError("not installed");
        }
        new Handler().post(() -> System.out.println("SCRIPT rests"));
        Looper.loop();
    }
}
