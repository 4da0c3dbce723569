package android.view;

import android.os.Parcel;

/** What the events of a testbed have in common; the real InputEvent leaves it to its subclasses. */
abstract class TestInputEvent extends InputEvent {
    private long eventTime;
    private int source;
    private int displayId;
    private boolean tainted;

    TestInputEvent(long eventTime, int source) {
        this.eventTime = eventTime;
        this.source = source;
    }

    final void setEventTime(long ms) { eventTime = ms; }

    @Override public final int getDeviceId() { return 1; }
    @Override public final int getSource() { return source; }
    @Override public final void setSource(int source) { this.source = source; }
    @Override public int getDisplayId() { return displayId; }
    @Override public void setDisplayId(int displayId) { this.displayId = displayId; }
    @Override public final boolean isTainted() { return tainted; }
    @Override public final void setTainted(boolean tainted) { this.tainted = tainted; }
    @Override public final long getEventTime() { return eventTime; }
    @Override public final long getEventTimeNano() { return eventTime * 1_000_000; }
    @Override public final void cancel() {}
    @Override public void writeToParcel(Parcel out, int flags) {}
}
