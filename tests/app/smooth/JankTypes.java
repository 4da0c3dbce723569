package smooth;

import android.app.ContextImpl;
import android.view.TestCompositor;
import android.view.TestViewRoot;
import android.view.View;
import android.view.Window;
import com.android.internal.policy.PhoneWindow;
import io.loopbox.Loopbox;
import java.io.File;
import java.lang.reflect.Method;
import scenario.Script;

/**
 * What Android 16 would report for 83 frames whose durations are known (from an article by Taobao, see
 * {@code smoothness.rs}). The stages are passed to the recorder directly,
 * because the testbeds' FrameMetrics has no vsync number. A substitute compositor gives the jank types of two
 * frames. For one frame they come after its stages, for the other frame before them.
 */
final class JankTypes {
    private static final int SHOWN = 3;
    private static final int FIRST_JANK = 6;
    private static final int LAST_JANK = 25;
    private static final int LAST = 80;

    // Of SurfaceControl.JankData.
    private static final int COMPOSER = 1;
    private static final int APPLICATION = 2;

    // Of FrameMetrics, and what the recorder passes behind it.
    private static final int LAYOUT = 3;
    private static final int TOTAL = 8;
    private static final int INTENDED_VSYNC = 10;
    private static final int VSYNC = 11;
    private static final int VSYNC_ID = 14;
    private static final int VALUES = 17;

    private static final long LAYOUT_NS = 60_000_000;

    private final Window window = new PhoneWindow(new ContextImpl(new File("."), "com.example.feed", "com.example.feed"));

    /** Called in the callback of this frame. */
    void frame(int frame, long[] times) {
        try {
            if (frame == SHOWN) {
                window.setContentView(new View(window.getContext()));
                new TestViewRoot(window);
                Loopbox.frames().watch(window);
                Script.say("listeners: " + TestCompositor.listeners());
            } else if (frame == LAST) {
                stages(times[FIRST_JANK], FIRST_JANK);
                // In one batch with those of other windows.
                TestCompositor.classify(FIRST_JANK, APPLICATION, 1_000, COMPOSER, LAST_JANK, COMPOSER | APPLICATION);
                stages(times[LAST_JANK], LAST_JANK);
                Loopbox.frames().forget(window);
                Script.say("listeners: " + TestCompositor.listeners());
            }
        } catch (ReflectiveOperationException changed) {
            throw new AssertionError(changed);
        } catch (InterruptedException unexpected) {
            throw new AssertionError(unexpected);
        }
    }

    private static void stages(long vsync, long vsyncId) throws ReflectiveOperationException {
        long[] values = new long[VALUES];
        values[LAYOUT] = LAYOUT_NS;
        values[TOTAL] = LAYOUT_NS;
        values[INTENDED_VSYNC] = vsync;
        values[VSYNC] = vsync;
        values[VSYNC_ID] = vsyncId;
        Method stages = Class.forName("io.loopbox.internal.recording.Native").getDeclaredMethod("stages", long[].class);
        stages.setAccessible(true);
        stages.invoke(null, (Object) values);
    }
}
