package smooth;

import android.os.Handler;
import android.os.Looper;
import android.util.Log;
import android.view.Choreographer;
import android.view.TestVsync;
import io.loopbox.FrameConfig;
import io.loopbox.FrameGesture;
import io.loopbox.FrameListener;
import io.loopbox.FrameWindow;
import io.loopbox.Loopbox;
import java.util.concurrent.atomic.AtomicInteger;
import scenario.Options;
import scenario.Script;
import scenario.Work;

/**
 * An animation that stalls: in a frame after it has asked for the next frame, in a frame before it asks for
 * the next one, and in a message between two frames. For each frame whose next frame came late, the app logs
 * a line, right after the Choreographer's own line. The line has the number of dropped frames, computed from
 * the frame times, and the least and the greatest number of refreshes that passed before the app asked for
 * the next frame. A stall that lasted longer than wanted, because the machine was busy, is repeated.
 * Arguments: {@code hz=} of the display, and those of {@link Options}.
 */
public final class Skips implements Choreographer.FrameCallback, FrameListener {
    private static final String TAG = "SKIPS";
    private static final long NS_PER_S = 1_000_000_000;
    private static final long NS_PER_MS = 1_000_000;
    private static final long HZ_60_NS = 16_666_667;

    /** How many frames must be skipped at least for the Choreographer to log a line. */
    private static final int LIMIT = 30;

    /** How many frames are on time before anything stalls: by then the recorder knows the rate. */
    private static final int ON_TIME = 8;

    /**
     * The lengths of the stalls: one longer than half a second, and one that is shorter, but longer than 30
     * refreshes at 120 Hz.
     */
    private static final int[] STALLS_MS = {600, 300};

    private static final int WAYS = 3;

    private final Handler handler = new Handler();
    private final AtomicInteger heard = new AtomicInteger();
    private final long periodNs;

    private int expected;
    private int onTime;
    private int stalls;
    private boolean stalling;
    private long lastNs;
    private long fewest;
    private long most;

    private Skips(long periodNs) {
        this.periodNs = periodNs;
    }

    /** Runs until the last stall has been reported. */
    public static void main(String[] arguments) {
        Looper.prepareMainLooper();
        Options options = new Options(arguments);
        long periodNs = Math.round((double) NS_PER_S / options.number("hz", 60));
        TestVsync.setPeriodNanos(periodNs);
        Skips app = new Skips(periodNs);
        FrameConfig frames = new FrameConfig.Builder().skippedFrames(LIMIT).listener(app).build();
        if (!Loopbox.install(options.config().frames(frames).build()).isOn()) {
            throw new AssertionError("not installed");
        }
        // Before the recorder's: the app's callback is the first in each frame.
        Choreographer.getInstance().postFrameCallback(app);
        Loopbox.frames().begin("stalls");
        Looper.loop();
    }

    @Override
    public void doFrame(long frameTimeNanos) {
        if (lastNs != 0) {
            note(Math.round((double) (frameTimeNanos - lastNs) / periodNs) - 1);
        }
        lastNs = frameTimeNanos;
        if (stalling || onTime < ON_TIME || heard.get() < expected) {
            ask(frameTimeNanos);
            return;
        }
        if (stalls == WAYS * STALLS_MS.length) {
            Runtime.getRuntime().halt(0);
        }
        onTime = 0;
        stalling = true;
        int ms = STALLS_MS[stalls / WAYS];
        switch (stalls % WAYS) {
            case 0:
                ask(frameTimeNanos);
                Work.busy(ms);
                break;
            case 1:
                Work.busy(ms);
                ask(frameTimeNanos);
                break;
            default:
                ask(frameTimeNanos);
                between(ms);
                break;
        }
    }

    private void between(final int ms) {
        handler.post(
                new Runnable() {
                    @Override
                    public void run() {
                        Work.busy(ms);
                    }
                });
    }

    private void ask(long frameTimeNanos) {
        fewest = (System.nanoTime() - frameTimeNanos) / periodNs;
        Choreographer.getInstance().postFrameCallback(this);
        most = (System.nanoTime() - frameTimeNanos) / periodNs;
    }

    private void note(long dropped) {
        if (dropped == 0) {
            onTime++;
            Log.i(TAG, "on time");
            return;
        }
        Log.i(TAG, "stood " + dropped + " " + fewest + " " + most);
        if (dropped * periodNs >= LIMIT * HZ_60_NS) {
            expected++;
        }
        int ms = stalling ? STALLS_MS[stalls / WAYS] : 0;
        if (stalling && dropped * periodNs >= ms * NS_PER_MS / 2) {
            stalling = false;
            boolean asked = stalls % WAYS == 1 ? dropped - fewest < LIMIT : most == 0;
            boolean stretched = ms == STALLS_MS[1] && dropped * periodNs >= LIMIT * HZ_60_NS;
            stalls += asked && !stretched ? 1 : 0;
        }
    }

    @Override
    public void onSkippedFrames(int frames, String scene) {
        Script.say("skipped " + frames);
        heard.incrementAndGet();
    }

    @Override
    public void onWindow(FrameWindow window) {}

    @Override
    public void onGesture(FrameGesture gesture) {}
}
