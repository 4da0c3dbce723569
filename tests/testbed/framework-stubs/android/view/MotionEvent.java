package android.view;

import android.os.Parcel;
import java.util.ArrayList;
import java.util.List;

/**
 * A touch or movement of fingers, a mouse or a joystick: of one pointer or several, with the samples that
 * were batched into the event.
 */
public final class MotionEvent extends TestInputEvent {
    public static final int ACTION_MASK = 0xff;
    public static final int ACTION_POINTER_INDEX_SHIFT = 8;
    public static final int ACTION_DOWN = 0;
    public static final int ACTION_UP = 1;
    public static final int ACTION_MOVE = 2;
    public static final int ACTION_CANCEL = 3;
    public static final int ACTION_POINTER_DOWN = 5;
    public static final int ACTION_POINTER_UP = 6;
    public static final int ACTION_HOVER_MOVE = 7;
    public static final int ACTION_SCROLL = 8;

    /** The platform's class, without the kind of tool. */
    public static final class PointerProperties {
        public int id;
    }

    /** The platform's class, with only the position. */
    public static final class PointerCoords {
        public float x;
        public float y;
    }

    private static final class Sample {
        final long eventTime;
        final PointerCoords[] coords;

        Sample(long eventTime, PointerCoords[] coords) {
            this.eventTime = eventTime;
            this.coords = coords;
        }
    }

    private final long downTime;
    private final int action;
    /** The ids of the pointers, by index. The coordinates in a sample have the same indices. */
    private final int[] ids;
    /** The samples, oldest first. The last one is the event itself. */
    private final List<Sample> samples = new ArrayList<Sample>();

    private MotionEvent(long downTime, int action, int[] ids, long eventTime, int source) {
        super(eventTime, source);
        this.downTime = downTime;
        this.action = action;
        this.ids = ids;
    }

    public static MotionEvent obtain(long downTime, long eventTime, int action, float x, float y, int metaState) {
        PointerCoords coords = new PointerCoords();
        coords.x = x;
        coords.y = y;
        PointerProperties[] properties = {new PointerProperties()};
        return obtain(
                downTime, eventTime, action, 1, properties, new PointerCoords[] {coords}, metaState, 0, 1, 1, 0, 0,
                InputDevice.SOURCE_TOUCHSCREEN, 0);
    }

    public static MotionEvent obtain(
            long downTime,
            long eventTime,
            int action,
            int pointerCount,
            PointerProperties[] properties,
            PointerCoords[] coords,
            int metaState,
            int buttonState,
            float xPrecision,
            float yPrecision,
            int deviceId,
            int edgeFlags,
            int source,
            int flags) {
        int[] ids = new int[pointerCount];
        PointerCoords[] places = new PointerCoords[pointerCount];
        for (int i = 0; i < pointerCount; i++) {
            ids[i] = properties[i].id;
            places[i] = new PointerCoords();
            places[i].x = coords[i].x;
            places[i].y = coords[i].y;
        }
        MotionEvent event = new MotionEvent(downTime, action, ids, eventTime, source);
        event.samples.add(new Sample(eventTime, places));
        return event;
    }

    public static MotionEvent obtain(MotionEvent other) { return other.copy(); }

    /**
     * Without this method InputEvent would not compile. It is never called: events never leave the process.
     */
    static MotionEvent createFromParcelBody(Parcel in) { throw new UnsupportedOperationException(); }

    @Override
    public MotionEvent copy() {
        MotionEvent copy = new MotionEvent(downTime, action, ids, getEventTime(), getSource());
        copy.samples.addAll(samples);
        return copy;
    }

    /** Adds another movement of the same pointers to the batch. Called by the host program. */
    final boolean addBatch(MotionEvent event) {
        samples.addAll(event.samples);
        setEventTime(event.getEventTime());
        return true;
    }

    /** Whether the event is a touch, and not a mouse that hovers or scrolls; as on a device. */
    final boolean isTouchEvent() {
        boolean pointer = (getSource() & InputDevice.SOURCE_CLASS_POINTER) != 0;
        int masked = getActionMasked();
        return pointer && (masked <= ACTION_CANCEL || masked == ACTION_POINTER_DOWN || masked == ACTION_POINTER_UP);
    }

    private PointerCoords last(int pointerIndex) { return samples.get(samples.size() - 1).coords[pointerIndex]; }

    public final int getAction() { return action; }
    public final int getActionMasked() { return action & ACTION_MASK; }
    public final int getActionIndex() { return action >> ACTION_POINTER_INDEX_SHIFT; }
    public final int getPointerCount() { return ids.length; }
    public final int getPointerId(int pointerIndex) { return ids[pointerIndex]; }

    public final int findPointerIndex(int pointerId) {
        for (int i = 0; i < ids.length; i++) {
            if (ids[i] == pointerId) {
                return i;
            }
        }
        return -1;
    }

    public final long getDownTime() { return downTime; }
    public final float getX() { return last(0).x; }
    public final float getY() { return last(0).y; }
    public final float getX(int pointerIndex) { return last(pointerIndex).x; }
    public final float getY(int pointerIndex) { return last(pointerIndex).y; }
    public final float getRawX() { return last(0).x; }
    public final float getRawY() { return last(0).y; }
    public final int getHistorySize() { return samples.size() - 1; }
    public final long getHistoricalEventTime(int at) { return samples.get(at).eventTime; }
    public final float getHistoricalX(int at) { return samples.get(at).coords[0].x; }
    public final float getHistoricalY(int at) { return samples.get(at).coords[0].y; }
}
