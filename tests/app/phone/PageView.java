package phone;

import android.content.Context;
import android.graphics.Canvas;
import android.view.KeyEvent;
import android.view.MotionEvent;
import android.view.View;
import java.util.concurrent.CountDownLatch;
import scenario.Script;

/** What the screen shows: a page that a finger scrolls. */
final class PageView extends View {
    /** Opened when a frame was drawn. */
    static final CountDownLatch DRAWN = new CountDownLatch(1);

    private int movements;
    private int events;

    PageView(Context context) {
        super(context);
    }

    @Override
    protected void onDraw(Canvas canvas) {
        Places.FRAME_TRAVERSAL.reach();
        DRAWN.countDown();
    }

    @Override
    public boolean onTouchEvent(MotionEvent event) {
        switch (event.getActionMasked()) {
            case MotionEvent.ACTION_DOWN:
                Places.TOUCH_DOWN.reach();
                break;
            case MotionEvent.ACTION_MOVE:
                movements += event.getHistorySize() + 1;
                events++;
                Places.TOUCH_MOVE.reach();
                scrollTo(0, (int) event.getY());
                break;
            default:
                Places.TOUCH_UP.reach();
                Script.say("scrolled by " + movements + " movements in " + events + " events to " + getScrollY());
        }
        return true;
    }

    @Override
    public boolean onGenericMotionEvent(MotionEvent event) {
        Places.GENERIC_MOTION.reach();
        return true;
    }

    @Override
    public boolean onKeyDown(int keyCode, KeyEvent event) {
        Places.KEY.reach();
        return true;
    }
}
