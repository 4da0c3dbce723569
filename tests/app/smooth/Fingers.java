package smooth;

import android.app.Application;
import android.app.ContextImpl;
import android.content.Context;
import android.graphics.Canvas;
import android.os.Handler;
import android.os.Looper;
import android.os.SystemClock;
import android.view.MotionEvent;
import android.view.View;
import io.loopbox.FrameConfig;
import io.loopbox.FrameGesture;
import io.loopbox.FrameListener;
import io.loopbox.FrameWindow;
import io.loopbox.Loopbox;
import java.io.File;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import scenario.Options;
import scenario.Script;

/**
 * Two fingers on a screen that scrolls with each movement. First they tap: the first finger is lifted and put
 * back, and then both are lifted. Then the first finger is lifted, and the second one continues to scroll.
 * Then both scroll, and each is lifted once while the other continues. Arguments: those of {@link Options}.
 */
public final class Fingers implements FrameListener, Runnable {
    private static final int FIRST = 0;
    private static final int SECOND = 1;
    private static final int APART = 900;
    private static final int STEP = 60;
    private static final int MOVES = 5;

    /** How far a finger trembles, which no finger can avoid. */
    private static final int TREMBLE = 1;

    /**
     * The longest time of a tap in milliseconds. If the fingers move for longer, the gesture counts as a
     * scroll.
     */
    private static final int TAP_MS = 100;

    /**
     * How often a tap is tried: it takes two frames, and on a busy machine these may take longer than {@code
     * TAP_MS}.
     */
    private static final int TAPS = 50;

    private static final long NS_PER_MS = 1_000_000;

    private final BlockingQueue<FrameGesture> gestures = new LinkedBlockingQueue<FrameGesture>();
    private final Hand hand = new Hand();
    private final Rows rows;

    private Fingers(Rows rows) {
        this.rows = rows;
    }

    /** Runs the whole scenario. */
    public static void main(String[] arguments) {
        Looper.prepareMainLooper();
        Options options = new Options(arguments);
        ContextImpl context = new ContextImpl(new File(options.text("dir", ".")), "com.example.feed", "com.example.feed");
        final Application application = new Application();
        application.attach(context);
        context.application = application;
        final Rows rows = new Rows(context);
        final Fingers fingers = new Fingers(rows);
        FrameConfig frames = new FrameConfig.Builder().touch(true).listener(fingers).build();
        if (!Loopbox.install(application, options.config().frames(frames).build()).isOn()) {
            throw new AssertionError("not installed");
        }
        final Screen screen = new Screen(context, rows);
        new Handler()
                .post(
                        new Runnable() {
                            @Override
                            public void run() {
                                application.show(screen);
                                screen.makeShown();
                                new Thread(fingers, "fingers").start();
                            }
                        });
        Looper.loop();
    }

    @Override
    public void run() {
        try {
            rows.shown.await();
            int taps = 1;
            while (!tap()) {
                if (taps == TAPS) {
                    throw new AssertionError("each of " + TAPS + " taps took longer than " + TAP_MS + " ms: too slow a machine");
                }
                taps++;
            }
            Script.say("taps " + taps);
            takeOver();
            scroll();
        } catch (InterruptedException unexpected) {
            throw new AssertionError(unexpected);
        }
        Script.dump("all of it has happened");
        Runtime.getRuntime().halt(0);
    }

    /** Taps with two fingers, and prints the gesture. Returns whether it was short enough for a tap. */
    private boolean tap() throws InterruptedException {
        long begin = SystemClock.uptimeMillis();
        hand.down(FIRST, 0);
        hand.down(SECOND, APART);
        hand.up(FIRST);
        hand.move(TREMBLE);
        hand.down(FIRST, 0);
        hand.move(TREMBLE);
        boolean isShort = SystemClock.uptimeMillis() - begin <= TAP_MS;
        hand.up(SECOND);
        hand.up(FIRST);
        String whose = whose(gestures.take());
        if (isShort) {
            Script.say("a tap: " + whose);
        }
        return isShort;
    }

    private void takeOver() throws InterruptedException {
        hand.down(FIRST, 0);
        hand.down(SECOND, APART);
        hand.up(FIRST);
        hand.move(STEP);
        hand.up(SECOND);
        Script.say("the second takes over: " + whose(gestures.take()));
    }

    private void scroll() throws InterruptedException {
        int scrolled = rows.scrolled.get();
        long first = System.nanoTime();
        hand.down(FIRST, 0);
        long touched = System.nanoTime();
        moves();
        hand.down(SECOND, APART);
        moves();
        hand.up(SECOND);
        moves();
        hand.down(SECOND, APART);
        moves();
        hand.up(FIRST);
        moves();
        long lifts = System.nanoTime();
        hand.up(SECOND);
        long last = System.nanoTime();
        String whose = whose(gestures.take());
        scrolled = rows.scrolled.get() - scrolled;
        Script.say("both scroll: " + whose);
        Script.say("frames " + scrolled + " held " + (lifts - touched) / NS_PER_MS + " " + (last - first) / NS_PER_MS);
    }

    private void moves() {
        for (int move = 0; move < MOVES; move++) {
            hand.move(STEP);
        }
    }

    private static String whose(FrameGesture gesture) {
        return gesture.isByFinger() ? "of a finger" : "of the app";
    }

    @Override
    public void onGesture(FrameGesture gesture) {
        gestures.add(gesture);
    }

    @Override
    public void onWindow(FrameWindow window) {}

    @Override
    public void onSkippedFrames(int frames, String scene) {}

    /** Scrolls with each movement of any finger. */
    private static final class Rows extends View {
        final CountDownLatch shown = new CountDownLatch(1);

        /** How many frames were drawn because the view had scrolled. */
        final AtomicInteger scrolled = new AtomicInteger();

        private boolean scrolls;

        Rows(Context context) {
            super(context);
        }

        @Override
        public boolean onTouchEvent(MotionEvent event) {
            if (event.getActionMasked() == MotionEvent.ACTION_MOVE) {
                scrollTo(0, getScrollY() + 1);
            }
            return true;
        }

        @Override
        protected void onScrollChanged(int x, int y, int oldX, int oldY) {
            super.onScrollChanged(x, y, oldX, oldY);
            scrolls = true;
        }

        @Override
        protected void onDraw(Canvas canvas) {
            if (scrolls) {
                scrolls = false;
                scrolled.incrementAndGet();
            }
            shown.countDown();
        }
    }
}
