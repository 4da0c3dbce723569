package android.view;

/**
 * A person's fingers, and the system's input dispatcher: puts events into the channel of the window that was
 * shown last. They arrive by a file descriptor inside of nativePollOnce, as on a device.
 */
public final class TestInput {
    private static volatile TestViewRoot focused;

    private TestInput() {}

    static void focus(TestViewRoot root) { focused = root; }

    /** Sends an event to the window that was shown last. Any thread. */
    public static void inject(InputEvent event) {
        TestViewRoot root = focused;
        if (root == null) {
            throw new IllegalStateException("no window is shown");
        }
        // As the app's end of a channel does: what moves waits for the next frame, where it is one event.
        boolean batches =
                event instanceof MotionEvent
                        && (((MotionEvent) event).getActionMasked() == MotionEvent.ACTION_MOVE
                                || ((MotionEvent) event).getActionMasked() == MotionEvent.ACTION_HOVER_MOVE);
        root.channel.publish(event, batches);
    }

    /**
     * Waits until the app has dealt with every event, as the dispatcher does for five seconds. Not on the
     * main thread.
     */
    public static boolean awaitFinished(long timeoutMs) {
        TestViewRoot root = focused;
        return root == null || root.channel.awaitFinished(timeoutMs);
    }
}
