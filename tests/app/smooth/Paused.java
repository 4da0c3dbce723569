package smooth;

import android.app.Application;
import android.app.ContextImpl;
import android.content.Context;
import android.graphics.Canvas;
import android.os.Handler;
import android.os.Looper;
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
import scenario.Options;
import scenario.Script;

/**
 * A finger scrolls a screen. During this the app pauses the recorder. In the pause the finger is lifted,
 * touches the screen again and scrolls. The finger goes on scrolling when the app resumes the recorder.
 * Prints of each gesture whether it was by a finger. Requests a report at the begin of the pause and another
 * one at its end, and then further ones until the process is killed. Prints the files of these reports.
 * Arguments: those of {@link Options}.
 */
public final class Paused implements FrameListener, Runnable {
    private static final int STEP = 60;
    private static final int MOVES = 10;

    private final BlockingQueue<FrameGesture> gestures = new LinkedBlockingQueue<FrameGesture>();
    private final Handler main = new Handler();
    private final Hand hand = new Hand();
    private final Rows rows;

    private Paused(Rows rows) {
        this.rows = rows;
    }

    /** Runs until it is killed. */
    public static void main(String[] arguments) {
        Looper.prepareMainLooper();
        Options options = new Options(arguments);
        ContextImpl context = new ContextImpl(new File(options.text("dir", ".")), "com.example.feed", "com.example.feed");
        final Application application = new Application();
        application.attach(context);
        context.application = application;
        final Rows rows = new Rows(context);
        final Paused paused = new Paused(rows);
        FrameConfig frames = new FrameConfig.Builder().touch(true).stages(true).listener(paused).build();
        if (!Loopbox.install(application, options.config().frames(frames).build()).isOn()) {
            throw new AssertionError("not installed");
        }
        final Screen screen = new Screen(context, rows);
        paused.main.post(
                new Runnable() {
                    @Override
                    public void run() {
                        application.show(screen);
                        screen.makeShown();
                        new Thread(paused, "finger").start();
                    }
                });
        Looper.loop();
    }

    @Override
    public void run() {
        try {
            rows.shown.await();
            hand.down(0, 0);
            moves();
            rows.pauses = true;
            hand.move(STEP);
            rows.paused.await();
            hand.up(0);
            Script.say("before: " + whose(gestures.take()));
            figures("paused");
            hand.down(0, 0);
            moves();
            figures("resumes");
            resume();
            moves();
            hand.up(0);
            Script.say("after: " + whose(gestures.take()));
            while (true) {
                figures("after");
            }
        } catch (InterruptedException unexpected) {
            throw new AssertionError(unexpected);
        }
    }

    private void moves() {
        for (int move = 0; move < MOVES; move++) {
            hand.move(STEP);
        }
    }

    private static void figures(String when) {
        Script.say("figures " + when + " " + Script.ask(when));
    }

    private static String whose(FrameGesture gesture) {
        return gesture.isByFinger() ? "of a finger" : "of the app";
    }

    private void resume() throws InterruptedException {
        final CountDownLatch resumed = new CountDownLatch(1);
        main.post(
                new Runnable() {
                    @Override
                    public void run() {
                        Loopbox.resume();
                        resumed.countDown();
                    }
                });
        resumed.await();
    }

    @Override
    public void onGesture(FrameGesture gesture) {
        gestures.add(gesture);
    }

    @Override
    public void onWindow(FrameWindow window) {}

    @Override
    public void onSkippedFrames(int frames, String scene) {}

    /** Scrolls with each movement of the finger, and pauses the recorder in a frame that scrolls. */
    private static final class Rows extends View {
        final CountDownLatch shown = new CountDownLatch(1);
        final CountDownLatch paused = new CountDownLatch(1);
        volatile boolean pauses;

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
        protected void onDraw(Canvas canvas) {
            shown.countDown();
            if (pauses) {
                pauses = false;
                Loopbox.pause();
                paused.countDown();
            }
        }
    }
}
