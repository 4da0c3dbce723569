package smooth;

import android.os.Handler;
import android.os.Looper;
import android.os.SystemClock;
import android.view.MotionEvent;
import android.view.TestInput;
import android.view.TestVsync;
import io.loopbox.Loopbox;
import java.util.concurrent.CountDownLatch;
import scenario.Script;

/**
 * Uses the screen: scrolls it with a finger and flings it, taps, and has the feed scroll by itself. Between
 * these steps nothing moves, and it prints how many refreshes were requested in that time. At the end it
 * requests reports until the process is killed.
 */
final class Person implements Runnable {
    private static final int MOVES = 12;
    private static final int STEP = 30;
    private static final int PAGES = 10;
    private static final long LIMIT_MS = 3_600_000;

    /** How long to wait until nothing moves: longer than it takes a gesture to end. */
    private static final long STILL_MS = 400;

    private final Feed feed;
    private final Handler main = new Handler(Looper.getMainLooper());

    Person(Feed feed) {
        this.feed = feed;
    }

    @Override
    public void run() {
        try {
            feed.shown.await();
            still("before");
            touch(MotionEvent.ACTION_DOWN, 0);
            for (int move = 1; move <= MOVES; move++) {
                touch(MotionEvent.ACTION_MOVE, -STEP * move);
            }
            touch(MotionEvent.ACTION_UP, -STEP * MOVES);
            feed.flung.await();
            still("after the fling");
            touch(MotionEvent.ACTION_DOWN, 0);
            touch(MotionEvent.ACTION_UP, 0);
            still("after a tap");
            main.post(
                    new Runnable() {
                        @Override
                        public void run() {
                            feed.turn(PAGES);
                        }
                    });
            feed.turned.await();
            still("after turning");
            Script.say("used");
            while (true) {
                Loopbox.dump("used");
                Thread.sleep(STILL_MS);
            }
        } catch (InterruptedException unexpected) {
            throw new AssertionError(unexpected);
        }
    }

    private static void touch(int action, float y) {
        long now = SystemClock.uptimeMillis();
        TestInput.inject(MotionEvent.obtain(now, now, action, 0, y, 0));
        if (!TestInput.awaitFinished(LIMIT_MS)) {
            throw new AssertionError("the app does not finish its input");
        }
    }

    /** Waits until nothing moves any more. Prints how many refreshes were requested while nothing moved. */
    private void still(String when) throws InterruptedException {
        settle();
        Thread.sleep(STILL_MS);
        settle();
        long before = TestVsync.scheduled();
        Thread.sleep(STILL_MS);
        settle();
        Script.say("still " + when + ": " + (TestVsync.scheduled() - before));
    }

    /** Waits until the main thread has run everything that was posted before this call. */
    private void settle() throws InterruptedException {
        final CountDownLatch settled = new CountDownLatch(1);
        main.post(
                new Runnable() {
                    @Override
                    public void run() {
                        settled.countDown();
                    }
                });
        settled.await();
    }
}
