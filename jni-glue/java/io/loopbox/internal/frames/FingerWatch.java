// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal.frames;

import android.content.res.Resources;
import android.os.SystemClock;
import android.view.MotionEvent;
import io.loopbox.internal.recording.Native;

/**
 * Reports when the first finger goes down, when it scrolls, and when the last finger is lifted: three calls
 * to the native side for each gesture, however many events it has. Main thread.
 */
final class FingerWatch {
    /**
     * How long a finger is down until its moves count as a scroll: ViewConfiguration.getTapTimeout(), which
     * is 100 ms, and a bit more, because the native side's clock begins later.
     */
    private static final long SCROLLS_AFTER_MS = 101;

    /** The touch slop of AOSP, in density-independent pixels. */
    private static final float SLOP_DP = 8;

    private final float density = Resources.getSystem().getDisplayMetrics().density;
    private long downMs;

    /** The finger that is followed, and where it was first seen. */
    private int finger;

    private float fromX;
    private float fromY;

    /** Whether a finger is down and is not known to scroll. */
    private boolean still;

    /** Handles an event of the window. Called before the window's own callback gets it. */
    void seen(MotionEvent event) {
        switch (event.getActionMasked()) {
            case MotionEvent.ACTION_DOWN:
                downMs = SystemClock.uptimeMillis();
                follow(event, 0);
                still = true;
                Native.touch(MotionEvent.ACTION_DOWN, 0);
                break;
            case MotionEvent.ACTION_MOVE:
                if (still) {
                    moved(event);
                }
                break;
            case MotionEvent.ACTION_UP:
            case MotionEvent.ACTION_CANCEL:
                still = false;
                Native.touch(MotionEvent.ACTION_UP, 0);
                break;
            case MotionEvent.ACTION_POINTER_UP:
                int lifted = event.getActionIndex();
                if (still && lifted == event.findPointerIndex(finger) && event.getPointerCount() > 1) {
                    follow(event, lifted == 0 ? 1 : 0);
                }
                break;
            default:
                // Another finger touches.
                break;
        }
    }

    private void follow(MotionEvent event, int index) {
        finger = event.getPointerId(index);
        fromX = event.getX(index);
        fromY = event.getY(index);
    }

    private void moved(MotionEvent event) {
        // Its place among the others changes as they come and go.
        int index = event.findPointerIndex(finger);
        float distance = index < 0 ? 0 : (float) Math.hypot(event.getX(index) - fromX, event.getY(index) - fromY) / density;
        if (distance > SLOP_DP || SystemClock.uptimeMillis() - downMs > SCROLLS_AFTER_MS) {
            still = false;
            Native.touch(MotionEvent.ACTION_MOVE, distance);
        }
    }
}
