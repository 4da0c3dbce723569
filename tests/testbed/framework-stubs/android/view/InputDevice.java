package android.view;

/** Where events come from. */
public final class InputDevice {
    public static final int SOURCE_CLASS_POINTER = 0x2;
    public static final int SOURCE_KEYBOARD = 0x101;
    public static final int SOURCE_TOUCHSCREEN = 0x1002;
    public static final int SOURCE_MOUSE = 0x2002;
    public static final int SOURCE_JOYSTICK = 0x1000010;

    private InputDevice() {}

    /** Returns null: nothing is known of any device. */
    public static InputDevice getDevice(int id) { return null; }
}
