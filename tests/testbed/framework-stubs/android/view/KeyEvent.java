package android.view;

import android.os.Parcel;

/** The event that a key goes down or up. */
public class KeyEvent extends TestInputEvent {
    public static final int ACTION_DOWN = 0;
    public static final int ACTION_UP = 1;
    public static final int KEYCODE_BACK = 4;
    public static final int KEYCODE_ENTER = 66;

    /** The platform's type, as far as a testbed needs it. */
    public interface Callback {
        boolean onKeyDown(int keyCode, KeyEvent event);

        boolean onKeyLongPress(int keyCode, KeyEvent event);

        boolean onKeyUp(int keyCode, KeyEvent event);

        boolean onKeyMultiple(int keyCode, int count, KeyEvent event);
    }

    private final int action;
    private final int keyCode;
    private final long downTime;

    public KeyEvent(long downTime, long eventTime, int action, int keyCode, int repeat) {
        super(eventTime, InputDevice.SOURCE_KEYBOARD);
        this.downTime = downTime;
        this.action = action;
        this.keyCode = keyCode;
    }

    public final int getAction() { return action; }
    public final int getKeyCode() { return keyCode; }
    public final long getDownTime() { return downTime; }

    /**
     * Without this method InputEvent would not compile. It is never called: events never leave the process.
     */
    static KeyEvent createFromParcelBody(Parcel in) { throw new UnsupportedOperationException(); }

    @Override
    public KeyEvent copy() { return new KeyEvent(downTime, getEventTime(), action, keyCode, 0); }

    /** Calls the receiver's method for this event, {@code onKeyDown} or {@code onKeyUp}. */
    public final boolean dispatch(Callback receiver) {
        return action == ACTION_DOWN ? receiver.onKeyDown(keyCode, this) : receiver.onKeyUp(keyCode, this);
    }
}
