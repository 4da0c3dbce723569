package scenario;

import android.app.Activity;
import android.app.ActivityThread;
import android.os.Handler;
import android.os.Looper;
import android.os.Message;
import android.os.MessageQueue;
import android.os.SystemClock;
import android.view.KeyEvent;
import android.view.MotionEvent;
import android.view.Window;
import com.android.internal.policy.PhoneWindow;
import com.example.shop.ShopHandler;
import io.loopbox.Config;
import io.loopbox.Loopbox;
import java.io.File;

/**
 * The main thread hangs in a place that is no ordinary message.
 *
 * <p>Arguments: those of {@link Options} and {@link Phone}; {@code how=} sleep, busy; {@code where=}: bind
 * (in the message that starts the app and in which the recorder is installed), message (in a posted message
 * in which the recorder is installed), loop (in a loop inside of the message that starts the app), before
 * (before there is a loop, with the recorder installed), idle (in an idle handler), first (in the idle
 * handler in which the recorder is installed), input (in a touch). The hang ends when the file {@code gate=}
 * exists.
 */
public final class Places {
    private static final class Touched extends RuntimeException {}

    private final Options options;
    private final Looper looper;
    private Phone phone;
    private Window activity;
    private Window dialog;

    private Places(Options options, Looper looper) {
        this.options = options;
        this.looper = looper;
    }

    /** Runs one scenario and ends the process. */
    public static void main(String[] arguments) {
        Looper.prepareMainLooper();
        Places scenario = new Places(new Options(arguments), Looper.myLooper());
        scenario.begin(scenario.options.text("where", ""));
        new Handler().post(scenario.new End());
        Looper.loop();
    }

    private void begin(String where) {
        if ("bind".equals(where) || "loop".equals(where)) {
            Handler system = new ActivityThread.H(looper);
            Message bind = system.obtainMessage(ActivityThread.H.BIND_APPLICATION, new App("loop".equals(where)));
            system.sendMessage(bind);
        } else if ("message".equals(where)) {
            new Handler().post(new App(false));
        } else if ("first".equals(where)) {
            Looper.myQueue().addIdleHandler(new Cleaner(true));
        } else {
            install();
            if ("before".equals(where)) {
                hang();
            } else if ("idle".equals(where)) {
                Looper.myQueue().addIdleHandler(new Cleaner(false));
            } else {
                open();
                Looper.myQueue().addIdleHandler(new Cleaner(false));
            }
        }
    }

    private void install() {
        Config.Builder config = options.config().hangMs(options.number("hangMs", 1_000)).watchInput(true);
        phone = new Phone(options);
        if (!Loopbox.install(phone, config.build()).isOn()) {
            throw new AssertionError("not installed");
        }
    }

    private void hang() {
        Script.say("hangs");
        File gate = new File(options.text("gate", ""));
        boolean busy = options.is("how", "busy");
        while (!gate.exists()) {
            if (busy) {
                Work.busy(20);
            } else {
                SystemClock.sleep(5);
            }
        }
    }

    /**
     * Brings an Activity to the front, and makes a dialog's window. Another library wraps the callback of
     * that window after us.
     */
    private void open() {
        activity = new PhoneWindow(phone);
        Activity page =
                new Activity() {
                    @Override
                    public Window getWindow() {
                        return activity;
                    }
                };
        activity.setCallback(new Page());
        phone.show(page);
        Window.Callback watched = activity.getCallback();
        check(!(watched instanceof Page) && watched.equals(watched) && !watched.equals(new Page()));
        check(watched.hashCode() == watched.hashCode() && watched.toString().startsWith("watched "));
        Loopbox.watchInput(activity);
        check(activity.getCallback() == watched);
        dialog = new PhoneWindow(phone);
        Loopbox.watchInput(dialog);
        check(dialog.getCallback() == null);
        dialog.setCallback(new Page());
        Loopbox.watchInput(dialog);
        dialog.setCallback(new Wrapper(dialog.getCallback()));
    }

    /** Checks the windows' callbacks after the recorder is uninstalled. */
    private void close() {
        check(activity.getCallback() instanceof Page);
        check(dialog.getCallback() instanceof Wrapper);
        dialog.getCallback().onContentChanged();
        Script.say("put back");
    }

    private static void check(boolean holds) {
        if (!holds) {
            throw new AssertionError("a window's callback is not as it must be");
        }
    }

    /**
     * What an Application or a provider does when the app starts: it installs the recorder and hangs. With
     * {@code loops} it runs messages in an inner loop before it hangs.
     */
    private final class App implements Runnable {
        private final boolean loops;

        App(boolean loops) {
            this.loops = loops;
        }

        @Override
        public void run() {
            install();
            if (loops) {
                ShopHandler shop = new ShopHandler(looper);
                shop.send(11, 70);
                shop.send(12, 80);
                OddMessages.runAll(looper);
                // Once more, with the queue empty in between: that is no end of the message around it.
                shop.send(13, 60);
                OddMessages.beIdle(looper);
            }
            hang();
        }
    }

    /** Runs when the queue is empty. */
    private final class Cleaner implements MessageQueue.IdleHandler {
        private final boolean installs;

        Cleaner(boolean installs) {
            this.installs = installs;
        }

        @Override
        public boolean queueIdle() {
            if (installs) {
                install();
            }
            if (activity == null) {
                hang();
                return false;
            }
            // As the system does it inside of nativePollOnce: no message runs.
            try {
                dialog.getCallback().dispatchKeyEvent(new KeyEvent(0, 0, KeyEvent.ACTION_DOWN, KeyEvent.KEYCODE_ENTER, 0));
                throw new AssertionError("the app's exception is lost");
            } catch (Touched expected) {
                Script.say("threw");
            }
            dialog.getCallback().onContentChanged();
            activity.getCallback().onPointerCaptureChanged(true);
            check(activity.getCallback().dispatchTouchEvent(MotionEvent.obtain(0, 0, MotionEvent.ACTION_DOWN, 0, 0, 0)));
            return false;
        }
    }

    /**
     * Another library's wrapper, in its usual form: with the methods of the Android version that it was made
     * for.
     */
    private static final class Wrapper extends Activity {
        private final Window.Callback next;

        Wrapper(Window.Callback next) {
            this.next = next;
        }

        @Override
        public boolean dispatchTouchEvent(MotionEvent event) {
            return next.dispatchTouchEvent(event);
        }

        @Override
        public boolean dispatchKeyEvent(KeyEvent event) {
            return next.dispatchKeyEvent(event);
        }

        @Override
        public void onContentChanged() {
            next.onContentChanged();
        }
    }

    /** The app's callback of a window, which the recorder wraps. A touch makes the main thread hang. */
    private final class Page extends Activity {
        @Override
        public boolean dispatchTouchEvent(MotionEvent event) {
            hang();
            return true;
        }

        @Override
        public boolean dispatchKeyEvent(KeyEvent event) {
            throw new Touched();
        }

        @Override
        public void onContentChanged() {
            Script.say("content");
        }

        @Override
        public void onPointerCaptureChanged(boolean hasCapture) {
            Script.say("captured " + hasCapture);
        }
    }

    /** Runs after the hang. */
    private final class End implements Runnable {
        @Override
        public void run() {
            new Thread("end") {
                @Override
                public void run() {
                    // After the hang, however late it is.
                    File gate = new File(options.text("gate", ""));
                    while (!gate.exists()) {
                        SystemClock.sleep(5);
                    }
                    SystemClock.sleep(options.number("afterMs", 1_000));
                    Script.say("dumped " + Loopbox.dump("at the end"));
                    if (activity != null) {
                        Loopbox.uninstall();
                        new Handler(looper).post(new Closing());
                        return;
                    }
                    Runtime.getRuntime().halt(0);
                }
            }.start();
        }
    }

    private final class Closing implements Runnable {
        @Override
        public void run() {
            close();
            Runtime.getRuntime().halt(0);
        }
    }
}
