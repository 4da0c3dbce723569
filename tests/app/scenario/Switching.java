package scenario;

import android.app.Activity;
import android.os.Handler;
import android.os.Looper;
import io.loopbox.Loopbox;
import java.io.File;
import java.util.concurrent.CountDownLatch;

/**
 * Switches sampling off, on and off again while the recorder records. After each switch a message runs, and
 * reports of it are requested until the file with the number of the switch (0 to 2) is in the folder {@code
 * next=}. With {@code behind=yes} the user has left the app. Other arguments are those of {@link Options} and
 * {@link Phone}.
 */
public final class Switching {
    private Switching() {}

    public static void main(String[] arguments) {
        Options options = new Options(arguments);
        Looper.prepareMainLooper();
        Phone phone = new Phone(options);
        if (!Loopbox.install(phone, options.config().build()).isOn()) {
            Script.say("not installed");
            return;
        }
        Activity activity = new Activity();
        phone.show(activity);
        if (options.is("behind", "yes")) {
            phone.hide(activity);
        }
        final String next = options.text("next", ".");
        final Handler handler = new Handler(Looper.myLooper());
        new Thread("switcher") {
            @Override
            public void run() {
                try {
                    for (int turn = 0; turn < 3; turn++) {
                        boolean on = turn == 1;
                        Loopbox.setSampling(on);
                        Busy message = new Busy();
                        handler.post(message);
                        message.begun.await();
                        do {
                            Thread.sleep(300);
                            Loopbox.dump(String.valueOf(turn));
                        } while (!new File(next, String.valueOf(turn)).exists());
                        message.over = true;
                    }
                    Script.say("done");
                } catch (Exception fault) {
                    Script.say("failed: " + fault);
                }
                Runtime.getRuntime().halt(0);
            }
        }.start();
        Looper.loop();
    }

    static final class Busy implements Runnable {
        final CountDownLatch begun = new CountDownLatch(1);
        volatile boolean over;

        @Override
        public void run() {
            begun.countDown();
            while (!over) {
                Work.busy(5);
            }
        }
    }
}
