package smooth;

import android.os.SystemClock;
import android.view.InputDevice;
import android.view.MotionEvent;
import android.view.TestInput;
import java.util.Map;
import java.util.TreeMap;

/**
 * Fingers on one screen, numbered as on a device: the first is 0, and a further one gets the lowest free
 * number.
 */
final class Hand {
    private static final long LIMIT_MS = 3_600_000;

    /** The place of each finger by its number; events have them in this order. */
    private final TreeMap<Integer, Float> places = new TreeMap<Integer, Float>();

    private long downMs;

    void down(int finger, float y) {
        boolean first = places.isEmpty();
        downMs = first ? SystemClock.uptimeMillis() : downMs;
        places.put(finger, y);
        send(first ? MotionEvent.ACTION_DOWN : of(finger, MotionEvent.ACTION_POINTER_DOWN));
    }

    /** Moves all fingers that are down. */
    void move(float by) {
        for (Map.Entry<Integer, Float> place : places.entrySet()) {
            place.setValue(place.getValue() + by);
        }
        send(MotionEvent.ACTION_MOVE);
    }

    void up(int finger) {
        send(places.size() == 1 ? MotionEvent.ACTION_UP : of(finger, MotionEvent.ACTION_POINTER_UP));
        places.remove(finger);
    }

    private int of(int finger, int action) {
        return action | places.headMap(finger).size() << MotionEvent.ACTION_POINTER_INDEX_SHIFT;
    }

    /** Sends an event of the fingers that are down. Returns when the app has handled it. */
    private void send(int action) {
        int count = places.size();
        MotionEvent.PointerProperties[] properties = new MotionEvent.PointerProperties[count];
        MotionEvent.PointerCoords[] coords = new MotionEvent.PointerCoords[count];
        int at = 0;
        for (Map.Entry<Integer, Float> place : places.entrySet()) {
            properties[at] = new MotionEvent.PointerProperties();
            properties[at].id = place.getKey();
            coords[at] = new MotionEvent.PointerCoords();
            coords[at].y = place.getValue();
            at++;
        }
        long now = SystemClock.uptimeMillis();
        int source = InputDevice.SOURCE_TOUCHSCREEN;
        TestInput.inject(MotionEvent.obtain(downMs, now, action, count, properties, coords, 0, 0, 1, 1, 0, 0, source, 0));
        if (!TestInput.awaitFinished(LIMIT_MS)) {
            throw new AssertionError("the app does not finish its input");
        }
    }
}
