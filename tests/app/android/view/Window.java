package android.view;

/** What a window has of the recorder's concern: its callback. */
public class Window {
    /** Some of a device's methods: of each kind one, and the latest as newer ones are, with a body. */
    public interface Callback {
        boolean dispatchTouchEvent(MotionEvent event);

        boolean dispatchKeyEvent(KeyEvent event);

        void onContentChanged();

        default void onPointerCaptureChanged(boolean hasCapture) {}
    }

    private Callback callback;

    public final Callback getCallback() {
        return callback;
    }

    public void setCallback(Callback callback) {
        this.callback = callback;
    }
}
