package smooth;

import android.app.ContextImpl;
import android.content.Context;
import android.os.Looper;
import android.view.Choreographer;
import android.view.TestViewRoot;
import android.view.TestVsync;
import android.view.View;
import android.view.Window;
import com.android.internal.policy.PhoneWindow;
import io.loopbox.FrameConfig;
import io.loopbox.FrameStats;
import io.loopbox.Frames;
import io.loopbox.Loopbox;
import java.io.File;
import scenario.Options;
import scenario.Script;

/**
 * Named animations that the app begins and does not end, on a scripted display. The first one lasts too long;
 * after that a screen scrolls. The second one is running when the app pauses the recorder, and the third one
 * begins in the pause. The screen scrolls again when the recorder is resumed. Arguments: those of
 * {@link Options}.
 */
public final class Unended implements Choreographer.FrameCallback {
    private static final long HOUR_NS = 3_600_000_000_000L;
    private static final long HZ_60_NS = 16_666_667;
    private static final long SECOND_NS = 1_000_000_000;

    /** The number of frames at the start of the script that last one second each. */
    private static final int LONG = 12;
    private static final int SCROLLED = 8;
    private static final int PAUSED = LONG + SCROLLED + 3;
    private static final int RESUMED = PAUSED + 2;
    private static final int LAST = RESUMED + SCROLLED + 2;

    private final View page;
    private int frame;

    private Unended(Context context) {
        page = new View(context);
    }

    /** Runs until the script is over. */
    public static void main(String[] arguments) {
        Looper.prepareMainLooper();
        Options options = new Options(arguments);
        // So long that no frame of the script is too late for the Choreographer, which reads it once.
        TestVsync.setPeriodNanos(HOUR_NS);
        Choreographer.getInstance();
        if (!Loopbox.install(options.config().frames(new FrameConfig.Builder().build()).build()).isOn()) {
            throw new AssertionError("not installed");
        }
        TestVsync.setScript(times());
        Context context = new ContextImpl(new File("."), "com.example.feed", "com.example.feed");
        Unended app = new Unended(context);
        Window window = new PhoneWindow(context);
        window.setContentView(app.page);
        new TestViewRoot(window);
        Loopbox.frames().watch(window);
        Loopbox.frames().begin("too long");
        Choreographer.getInstance().postFrameCallback(app);
        Looper.loop();
    }

    private static long[] times() {
        long[] times = new long[LAST + 1];
        for (int i = 1; i <= LAST; i++) {
            times[i] = times[i - 1] + (i <= LONG ? SECOND_NS : HZ_60_NS);
        }
        long first = System.nanoTime() - times[LAST];
        for (int i = 0; i <= LAST; i++) {
            times[i] += first;
        }
        return times;
    }

    @Override
    public void doFrame(long frameTimeNanos) {
        Frames frames = Loopbox.frames();
        if (frame == LONG) {
            Loopbox.scene("after the long one");
        } else if (frame == PAUSED - 2) {
            frames.begin("paused");
        } else if (frame == PAUSED) {
            Loopbox.pause();
            frames.begin("in the pause");
        } else if (frame == RESUMED) {
            Loopbox.resume();
            Loopbox.scene("after the pause");
        } else if (frame == LAST) {
            over();
        }
        if (scrolls(LONG) || scrolls(RESUMED)) {
            page.scrollTo(0, page.getScrollY() + 1);
        }
        frame++;
        Choreographer.getInstance().postFrameCallback(this);
    }

    private boolean scrolls(int from) {
        return frame >= from && frame < from + SCROLLED;
    }

    private static void over() {
        Script.dump("the script is over");
        for (FrameStats.Scene scene : Loopbox.frames().snapshot().getScenes()) {
            Script.say(scene.getName() + ": " + scene.getFrames() + " frames");
        }
        Runtime.getRuntime().halt(0);
    }
}
