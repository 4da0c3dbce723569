package scenario;

import android.os.Handler;
import android.os.Looper;
import io.loopbox.Loopbox;

/** A message that hangs in native code: {@code way=} says how. */
public final class NativeHang implements Runnable {
    /** The ways to hang, in the order of the host program's list. */
    private static final String[] WAYS = {"spin", "futex", "read", "sleep"};

    private final String way;

    private NativeHang(String way) {
        this.way = way;
    }

    /** Hangs until the process is killed. */
    public static void main(String[] arguments) throws Exception {
        Looper.prepareMainLooper();
        Options options = new Options(arguments);
        if (!Loopbox.install(options.config().build()).isOn()) {
            throw new AssertionError("not installed");
        }
        SignalCatcher.await();
        new Handler().post(new NativeHang(options.text("way", WAYS[0])));
        Looper.loop();
    }

    @Override
    public void run() {
        for (int i = 0; i < WAYS.length; i++) {
            if (WAYS[i].equals(way)) {
                hang(i);
            }
        }
        throw new AssertionError("no such way: " + way);
    }

    private static native void hang(int way);
}
