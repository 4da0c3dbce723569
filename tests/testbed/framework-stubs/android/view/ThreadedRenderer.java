package android.view;

/** What Choreographer asks; {@link TestRenderThread} does the rest. */
public final class ThreadedRenderer {
    static final String DEBUG_FPS_DIVISOR = "debug.hwui.fps_divisor";

    public static void setFPSDivisor(int divisor) {}

    private ThreadedRenderer() {}
}
