package android.view;

/** The part that Choreographer uses; {@link TestRenderThread} does the rest. */
public final class ThreadedRenderer {
    static final String DEBUG_FPS_DIVISOR = "debug.hwui.fps_divisor";

    public static void setFPSDivisor(int divisor) {}

    private ThreadedRenderer() {}
}
