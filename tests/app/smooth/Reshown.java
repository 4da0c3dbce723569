package smooth;

import android.app.ContextImpl;
import android.content.Context;
import android.os.Looper;
import android.view.Choreographer;
import android.view.TestCompositor;
import android.view.TestViewRoot;
import android.view.TestVsync;
import android.view.View;
import android.view.Window;
import com.android.internal.policy.PhoneWindow;
import io.loopbox.FrameConfig;
import io.loopbox.FrameStats;
import io.loopbox.Loopbox;
import java.io.File;
import scenario.Options;
import scenario.Script;

/**
 * A window that is shown three times, as a Dialog that the app keeps, on a scripted display. Each time it
 * scrolls. It is watched from before the first time until before the third one. Arguments: those of {@link
 * Options}.
 */
public final class Reshown implements Choreographer.FrameCallback {
    private static final long HOUR_NS = 3_600_000_000_000L;
    private static final long HZ_60_NS = 16_666_667;
    private static final String[] TIMES = {"first", "second", "third"};
    private static final int FRAMES = 12;
    private static final int SCROLLED = 8;

    private final Window window;
    private final View page;
    private TestViewRoot root;
    private int frame;

    private Reshown(Context context) {
        window = new PhoneWindow(context);
        page = new View(context);
        window.setContentView(page);
    }

    /** Runs until the script is over. */
    public static void main(String[] arguments) {
        Looper.prepareMainLooper();
        Options options = new Options(arguments);
        // So long that no frame of the script is too late for the Choreographer, which reads it once.
        TestVsync.setPeriodNanos(HOUR_NS);
        Choreographer.getInstance();
        FrameConfig frames = new FrameConfig.Builder().stages(true).jankData(true).build();
        if (!Loopbox.install(options.config().frames(frames).build()).isOn()) {
            throw new AssertionError("not installed");
        }
        long[] times = new long[TIMES.length * FRAMES + 1];
        long first = System.nanoTime() - times.length * HZ_60_NS;
        for (int i = 0; i < times.length; i++) {
            times[i] = first + i * HZ_60_NS;
        }
        TestVsync.setScript(times);
        Context context = new ContextImpl(new File("."), "com.example.feed", "com.example.feed");
        Reshown app = new Reshown(context);
        Loopbox.frames().watch(app.window);
        Choreographer.getInstance().postFrameCallback(app);
        Looper.loop();
    }

    @Override
    public void doFrame(long frameTimeNanos) {
        int at = frame % FRAMES;
        if (frame == TIMES.length * FRAMES) {
            over();
        } else if (at == 0) {
            show(TIMES[frame / FRAMES]);
        } else if (at <= SCROLLED) {
            page.scrollTo(0, page.getScrollY() + 1);
        }
        frame++;
        Choreographer.getInstance().postFrameCallback(this);
    }

    private void show(String time) {
        if (root != null) {
            root.dismiss();
        }
        if (time.equals("third")) {
            Loopbox.frames().forget(window);
        }
        Loopbox.scene(time);
        root = new TestViewRoot(window);
        Script.say(time + ": " + TestCompositor.listeners() + " listeners");
    }

    private static void over() {
        Script.dump("the script is over");
        for (FrameStats.Scene scene : Loopbox.frames().snapshot().getScenes()) {
            Script.say(scene.getName() + ": " + scene.getFrames() + " frames");
        }
        Runtime.getRuntime().halt(0);
    }
}
