package phone;

import android.app.ActivityThread;
import android.app.job.JobParameters;
import android.content.Intent;
import android.os.Handler;
import android.os.Looper;
import android.os.SystemClock;
import android.view.InputDevice;
import android.view.KeyEvent;
import android.view.MotionEvent;
import android.view.TestInput;
import com.othersdk.Monitor;
import io.loopbox.Loopbox;
import java.util.concurrent.CountDownLatch;
import scenario.Script;

/**
 * Simulates the system and the phone's user, on a thread of Binder: each step waits until the previous one is
 * over.
 */
final class SystemServer implements Runnable {
    /**
     * How long to wait until the app has handled all input events, in milliseconds. This is longer than the
     * hang of any test.
     */
    private static final long LIMIT_MS = 3_600_000;
    private static final int MOVES = 6;

    private final ActivityThread.ApplicationThread app;
    private final ActivityThread.AppBindData start;
    private final Handler main = new Handler(Looper.getMainLooper());

    SystemServer(ActivityThread.ApplicationThread app, ActivityThread.AppBindData start) {
        this.app = app;
        this.start = start;
    }

    @Override
    public void run() {
        try {
            app.bindApplication(start);
            settle();
            if (Main.options.is("displaced", "yes")) {
                Monitor.replace(Looper.getMainLooper());
            }
            app.scheduleTransaction(PhoneActivity.class);
            PageView.DRAWN.await();
            Errands errands = new Errands(main);
            errands.frames();
            touch();
            otherInput();
            errands.idle();
            errands.descriptor();
            components();
            errands.messages();
            if (Main.options.is("dump", "on")) {
                Script.say("dumped " + Loopbox.dump("at the end"));
            }
            Script.say("done");
            Runtime.getRuntime().halt(0);
        } catch (Throwable fault) {
            fault.printStackTrace();
            Runtime.getRuntime().halt(1);
        }
    }

    /** Waits until main has run everything that was sent before this call. */
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

    private static void touch(int action, float y) {
        long now = SystemClock.uptimeMillis();
        TestInput.inject(MotionEvent.obtain(now, now, action, 0, y, 0));
    }

    private static void finished() {
        if (!TestInput.awaitFinished(LIMIT_MS)) {
            throw new IllegalStateException("the app does not finish its input");
        }
    }

    private static void touch() {
        touch(MotionEvent.ACTION_DOWN, 500);
        finished();
        for (int move = 1; move <= MOVES; move++) {
            touch(MotionEvent.ACTION_MOVE, 500 - 20 * move);
        }
        finished();
        touch(MotionEvent.ACTION_UP, 380);
        finished();
    }

    private static void otherInput() {
        long now = SystemClock.uptimeMillis();
        TestInput.inject(new KeyEvent(now, now, KeyEvent.ACTION_DOWN, KeyEvent.KEYCODE_ENTER, 0));
        TestInput.inject(new KeyEvent(now, now, KeyEvent.ACTION_UP, KeyEvent.KEYCODE_ENTER, 0));
        MotionEvent wheel = MotionEvent.obtain(now, now, MotionEvent.ACTION_SCROLL, 0, 1, 0);
        wheel.setSource(InputDevice.SOURCE_MOUSE);
        TestInput.inject(wheel);
        finished();
    }

    private void components() throws InterruptedException {
        app.scheduleCreateService(PhoneService.class);
        app.scheduleServiceArgs(new Intent().setClassName("com.example.phone", PhoneService.class.getName()));
        app.scheduleReceiver(new Intent().setClassName("com.example.phone", PhoneReceiver.class.getName()));
        settle();
        PhoneService.jobs.startJob(new JobParameters(7));
        PhoneService.JOB_DONE.await();
    }
}
