package scenario;

import android.app.ActivityThread;
import android.app.LoadedApk;
import android.os.Handler;
import android.os.Looper;
import android.os.Process;
import android.system.Os;
import android.system.OsConstants;
import android.view.Choreographer;
import com.example.shop.BrokenCoupon;
import com.example.shop.CheckoutActivity;
import com.example.shop.ImageDecoder;
import com.example.shop.Scroll;
import com.example.shop.ShopHandler;
import io.loopbox.Loopbox;
import io.loopbox.Status;

/**
 * An app's last seconds: bursts of short messages, some of 60 to 200 ms, one of 700 ms, one that throws and
 * is caught, a pause, a flood, and a message that never returns.
 *
 * <p>Arguments: those of {@link Options}. With {@code self=MS} the process sends itself SIGQUIT, as the
 * system does, this long after the hang began, and ends when the report is there. Without {@code self}
 * another process sends the signal. With {@code dumps=MS} the app asks for a report every MS milliseconds,
 * from the beginning of its hang on.
 */
public final class Demo implements Runnable {
    private static final int SHORT_MESSAGES = 150;
    private static final int SHORT_MS = 3;
    private static final int FLOOD = 300;
    private static final int PAUSE_MS = 600;

    private final Looper looper = Looper.myLooper();
    private final Handler handler = new Handler(looper);
    private final ShopHandler shop = new ShopHandler(looper);
    private final Options options;
    private int step;

    private Demo(Options options) {
        this.options = options;
    }

    /** Runs until it is killed; with {@code self} only until the report is there. */
    public static void main(String[] arguments) {
        Options options = new Options(arguments);
        Looper.prepareMainLooper();
        Status status = Loopbox.install(options.config().build());
        if (!status.isOn()) {
            Script.say("not installed: " + status);
            return;
        }
        Script.say("installed");
        Demo demo = new Demo(options);
        demo.handler.post(demo);
        loop();
    }

    /** An app's crash guard: an exception in a message does not end the loop. */
    private static void loop() {
        while (true) {
            try {
                Looper.loop();
            } catch (IllegalStateException caught) {
                Script.say("caught " + caught.getMessage());
            }
        }
    }

    /** Each step posts its messages, and after them the next step. */
    @Override
    public void run() {
        switch (step++) {
            case 0:
                for (int i = 0; i < SHORT_MESSAGES; i++) {
                    shop.send(1, SHORT_MS);
                }
                handler.post(this);
                break;
            case 1:
                shop.send(2, 60);
                shop.send(3, 120);
                new ActivityThread.H(looper).sendEmptyMessage(ActivityThread.H.EXECUTE_TRANSACTION);
                Choreographer.getInstance().postFrameCallback(new StillFrame());
                handler.post(new LoadedApk.ReceiverDispatcher.Args());
                shop.send(4, 200);
                handler.post(new ImageDecoder());
                handler.post(new BrokenCoupon());
                shop.send(5, 80);
                handler.post(this);
                break;
            case 2:
                handler.postDelayed(this, PAUSE_MS);
                break;
            default:
                hang();
        }
    }

    /** A frame without anything to draw. */
    private static final class StillFrame implements Choreographer.FrameCallback {
        @Override
        public void doFrame(long frameTimeNanos) {}
    }

    private void hang() {
        new CheckoutActivity(looper).sendEmptyMessage(CheckoutActivity.PAY);
        Scroll scroll = new Scroll();
        for (int i = 0; i < FLOOD; i++) {
            handler.post(scroll);
        }
        handler.sendEmptyMessageDelayed(77, 60_000);
        Script.say("hang");
        final int dumps = options.number("dumps", 0);
        if (dumps > 0) {
            new Thread("dumps") {
                @Override
                public void run() {
                    while (true) {
                        try {
                            Thread.sleep(dumps);
                        } catch (InterruptedException e) {
                            return;
                        }
                        Loopbox.dump("again");
                    }
                }
            }.start();
        }
        final int self = options.number("self", 0);
        if (self > 0) {
            new Thread("anr") {
                @Override
                public void run() {
                    sendSigQuit(self);
                }
            }.start();
        }
    }

    private static void sendSigQuit(int afterMs) {
        try {
            Thread.sleep(afterMs);
            Os.kill(Process.myPid(), OsConstants.SIGQUIT);
            // The report is there long before; this process is of no use any more.
            Thread.sleep(3_000);
        } catch (Exception failed) {
            Script.say("cannot send SIGQUIT: " + failed);
        }
        Runtime.getRuntime().halt(0);
    }
}
