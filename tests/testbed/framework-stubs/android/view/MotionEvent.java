package android.view;

import android.os.Parcel;
import java.util.ArrayList;
import java.util.List;

/** A finger, a mouse or a joystick moves: one pointer, with the samples that were batched into it. */
public final class MotionEvent extends TestInputEvent {
    public static final int ACTION_MASK = 0xff;
    public static final int ACTION_DOWN = 0;
    public static final int ACTION_UP = 1;
    public static final int ACTION_MOVE = 2;
    public static final int ACTION_CANCEL = 3;
    public static final int ACTION_HOVER_MOVE = 7;
    public static final int ACTION_SCROLL = 8;

    private static final class Sample {
        final long eventTime;
        final float x;
        final float y;

        Sample(long eventTime, float x, float y) {
            this.eventTime = eventTime;
            this.x = x;
            this.y = y;
        }
    }

    private final long downTime;
    private final int action;
    /** Oldest first; the last is the event itself. */
    private final List<Sample> samples = new ArrayList<Sample>();

    private MotionEvent(long downTime, int action, long eventTime, float x, float y) {
        super(eventTime, InputDevice.SOURCE_TOUCHSCREEN);
        this.downTime = downTime;
        this.action = action;
        samples.add(new Sample(eventTime, x, y));
    }

    public static MotionEvent obtain(long downTime, long eventTime, int action, float x, float y, int metaState) {
        return new MotionEvent(downTime, action, eventTime, x, y);
    }

    public static MotionEvent obtain(MotionEvent other) { return other.copy(); }

    /** A signature of InputEvent: events never leave the process. */
    static MotionEvent createFromParcelBody(Parcel in) { throw new UnsupportedOperationException(); }

    @Override
    public MotionEvent copy() {
        MotionEvent copy = new MotionEvent(downTime, action, getEventTime(), getX(), getY());
        copy.setSource(getSource());
        copy.samples.clear();
        copy.samples.addAll(samples);
        return copy;
    }

    /** Called by the host program: another movement in the same batch. */
    final boolean addBatch(MotionEvent event) {
        samples.addAll(event.samples);
        setEventTime(event.getEventTime());
        return true;
    }

    private Sample last() { return samples.get(samples.size() - 1); }

    public final int getAction() { return action; }
    public final int getActionMasked() { return action & ACTION_MASK; }
    public final int getPointerCount() { return 1; }
    public final long getDownTime() { return downTime; }
    public final float getX() { return last().x; }
    public final float getY() { return last().y; }
    public final float getRawX() { return last().x; }
    public final float getRawY() { return last().y; }
    public final int getHistorySize() { return samples.size() - 1; }
    public final long getHistoricalEventTime(int at) { return samples.get(at).eventTime; }
    public final float getHistoricalX(int at) { return samples.get(at).x; }
    public final float getHistoricalY(int at) { return samples.get(at).y; }
}
