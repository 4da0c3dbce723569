package android.view;

/**
 * Where the system puts a window's input; the app's end is an InputEventReceiver. The host program has the
 * native methods.
 */
public final class InputChannel {
    /** The native half, which lives as long as the process. */
    private final long pointer = nativeOpen();

    /** Puts an event in and wakes the window's thread. Any thread. */
    void publish(InputEvent event, boolean batches) { nativePublish(pointer, event, batches); }

    /**
     * Waits until the app has dealt with every event, for {@code timeoutMs} at most. Returns whether it has.
     */
    boolean awaitFinished(long timeoutMs) { return nativeAwaitFinished(pointer, timeoutMs); }

    private static native long nativeOpen();
    private static native void nativePublish(long pointer, InputEvent event, boolean batches);
    private static native boolean nativeAwaitFinished(long pointer, long timeoutMs);
}
