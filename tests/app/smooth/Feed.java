package smooth;

import android.content.Context;
import android.graphics.Canvas;
import android.os.Handler;
import android.os.Message;
import android.view.MotionEvent;
import android.view.View;
import java.util.concurrent.CountDownLatch;
import scenario.Work;

/**
 * A list that a finger scrolls, and that goes on scrolling when the finger is lifted. Then slow code makes it
 * stand still twice.
 */
final class Feed extends View {
    private static final int FLING = 24;
    private static final int SLOW_FRAME = 16;
    private static final int SLOW_MESSAGE = 8;
    private static final int STEP = 20;

    /**
     * How long slow code runs, in milliseconds: long enough to be sampled as slow code of a frame, and too
     * short to be a hang.
     */
    private static final int SLOW_MS = 700;

    final CountDownLatch shown = new CountDownLatch(1);
    final CountDownLatch flung = new CountDownLatch(1);
    final CountDownLatch turned = new CountDownLatch(1);

    private final Handler handler = new Handler();
    private int fling;
    private int pages;

    Feed(Context context) {
        super(context);
    }

    /** Scrolls by itself through this many frames. Main thread. */
    void turn(int frames) {
        pages = frames;
        scrollTo(0, getScrollY() + STEP);
    }

    @Override
    protected void onDraw(Canvas canvas) {
        shown.countDown();
        if (fling > 0) {
            fling--;
            if (fling == SLOW_FRAME) {
                bind();
            } else if (fling == SLOW_MESSAGE) {
                // In front of the barrier behind which an app's ordinary messages wait for the next frame.
                Message message = Message.obtain(handler, new Loader());
                message.setAsynchronous(true);
                handler.sendMessage(message);
            }
            next(fling, flung);
        } else if (pages > 0) {
            pages--;
            next(pages, turned);
        }
    }

    private void next(int left, CountDownLatch over) {
        if (left > 0) {
            scrollTo(0, getScrollY() + STEP);
        } else {
            over.countDown();
        }
    }

    private static void bind() {
        Work.busy(SLOW_MS);
    }

    @Override
    public boolean onTouchEvent(MotionEvent event) {
        if (event.getActionMasked() == MotionEvent.ACTION_MOVE) {
            scrollTo(0, (int) event.getY());
        } else if (event.getActionMasked() == MotionEvent.ACTION_UP && event.getY() < 0) {
            fling = FLING;
            scrollTo(0, getScrollY() + STEP);
        }
        return true;
    }

    /** Loads the next rows, on the wrong thread. */
    private static final class Loader implements Runnable {
        @Override
        public void run() {
            parse();
        }

        private static void parse() {
            Work.busy(SLOW_MS);
        }
    }
}
