package smooth;

import android.os.Looper;
import io.loopbox.FrameConfig;
import io.loopbox.FrameGesture;
import io.loopbox.FrameListener;
import io.loopbox.FrameWindow;
import io.loopbox.Loopbox;
import io.loopbox.internal.frames.FrameWatch;
import io.loopbox.internal.recording.Native;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import scenario.Options;
import scenario.Script;

/**
 * A listener of frames that does not return from its first call for a while. Meanwhile 1,000 gestures and
 * 1,000 windows are reported to it, by the method that the recorder's worker calls. Prints how many gestures
 * the listener then got, and whether all other calls were counted as left out. Arguments: those of {@link
 * Options}.
 */
public final class Busy implements FrameListener {
    private static final int MOST = 1_000;
    /** The length of the array of values in each report. A window or a gesture reads fewer values. */
    private static final int NUMBERS = 16;

    private final CountDownLatch go = new CountDownLatch(1);
    private final Semaphore calls = new Semaphore(0);
    private int gestures;
    private int missed;

    public static void main(String[] arguments) throws InterruptedException {
        Looper.prepareMainLooper();
        Busy busy = new Busy();
        FrameConfig frames = new FrameConfig.Builder().listener(busy).build();
        if (!Loopbox.install(new Options(arguments).config().frames(frames).build()).isOn()) {
            throw new AssertionError("not installed");
        }
        report(Native.FRAME_WINDOW);
        busy.calls.acquire();
        for (int i = 0; i < MOST; i++) {
            report(Native.FRAME_GESTURE);
            report(Native.FRAME_WINDOW);
        }
        busy.go.countDown();
        // A window is left out while gestures wait.
        do {
            Thread.sleep(1);
            report(Native.FRAME_WINDOW);
        } while (!busy.calls.tryAcquire());
        Script.say("of " + MOST + " gestures " + busy.gestures + ", left out " + (busy.missed >= 2 * MOST - busy.gestures));
        Runtime.getRuntime().halt(0);
    }

    private static void report(int kind) {
        FrameWatch.notifyListeners(kind, new long[NUMBERS], "");
    }

    @Override
    public void onWindow(FrameWindow window) {
        missed = window.getMissed();
        calls.release();
        try {
            go.await();
        } catch (InterruptedException none) {
            throw new AssertionError(none);
        }
    }

    @Override
    public void onGesture(FrameGesture gesture) {
        gestures++;
    }

    @Override
    public void onSkippedFrames(int frames, String scene) {}
}
