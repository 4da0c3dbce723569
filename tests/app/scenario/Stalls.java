package scenario;

import android.app.ActivityThread;
import android.app.ContextImpl;
import android.app.Service;
import android.content.Intent;
import android.os.Debug;
import android.os.Handler;
import android.os.IBinder;
import android.os.Looper;
import android.os.SystemClock;
import com.othersdk.Crashes;
import com.othersdk.Tracer;
import io.loopbox.Loopbox;
import java.io.File;

/**
 * One message that takes long, and events around it.
 *
 * <p>Arguments: those of {@link Options} and {@link Phone}; {@code ms=}: how long the message takes; without
 * this argument it ends when the file {@code gate=} exists; {@code how=} sleep, busy, crash, service; {@code
 * afterMs=}: how long the app lives after the message; {@code debugger=} java, native; {@code
 * listener=native}: a native listener in addition to Java's; {@code garbage=on}: collections all the while;
 * {@code dumps=N}: reports that the app asks for, one each 200 ms.
 */
public final class Stalls implements Runnable {
    private final Options options;

    private Stalls(Options options) {
        this.options = options;
    }

    /** Runs one scenario and ends the process. */
    public static void main(String[] arguments) {
        Looper.prepareMainLooper();
        Options options = new Options(arguments);
        Debug.connected = options.is("debugger", "java");
        File recorder = new File(System.getProperty("java.library.path"), "libloopbox.so");
        if (options.is("debugger", "native")) {
            Tracer.attach();
        }
        if (!Loopbox.install(new Phone(options), options.config().hangMs(options.number("hangMs", 1_000)).build())
                .isOn()) {
            throw new AssertionError("not installed");
        }
        if (options.is("how", "crash")) {
            Crashes.install(recorder.getPath());
        }
        if (options.is("listener", "native")) {
            Crashes.listen(recorder.getPath());
        }
        Stalls scenario = new Stalls(options);
        if (options.is("garbage", "on")) {
            new Thread(new Garbage(), "garbage").start();
        }
        if (options.is("how", "service")) {
            Script.say("begins");
            SlowService.ms = options.number("ms", 0);
            File directory = new File(options.text("dir", "."));
            ContextImpl context = new ContextImpl(directory, "com.example.shop", "com.example.shop");
            new ActivityThread(context).getApplicationThread().scheduleCreateService(SlowService.class);
        } else {
            new Handler().post(scenario);
        }
        new Handler().post(new End(options));
        Looper.loop();
    }

    @Override
    public void run() {
        Script.say("begins");
        int ms = options.number("ms", 0);
        if (options.is("how", "busy")) {
            Work.busy(ms);
        } else if (ms > 0) {
            SystemClock.sleep(ms);
        } else {
            File gate = new File(options.text("gate", ""));
            while (!gate.exists()) {
                SystemClock.sleep(5);
            }
        }
        if (options.is("how", "crash")) {
            Crashes.crash();
        }
        Script.say("went on");
    }

    /** A service that takes long to start. */
    public static final class SlowService extends Service {
        static int ms;

        @Override
        public void onCreate() {
            SystemClock.sleep(ms);
        }

        @Override
        public IBinder onBind(Intent intent) {
            return null;
        }
    }

    /** Runs after the message. */
    private static final class End implements Runnable {
        private final Options options;

        End(Options options) {
            this.options = options;
        }

        @Override
        public void run() {
            new Thread("end") {
                @Override
                public void run() {
                    SystemClock.sleep(options.number("afterMs", 1_000));
                    for (int dumps = options.number("dumps", 1); dumps > 0; dumps--) {
                        Script.say("dumped " + Loopbox.dump("at the end"));
                        SystemClock.sleep(200);
                    }
                    Runtime.getRuntime().halt(0);
                }
            }.start();
        }
    }

    /** Makes work for the collector. */
    private static final class Garbage implements Runnable {
        @Override
        public void run() {
            for (int i = 0; ; i++) {
                byte[][] some = new byte[100][];
                for (int j = 0; j < some.length; j++) {
                    some[j] = new byte[10_000];
                }
                if (i % 20 == 0) {
                    Runtime.getRuntime().gc();
                }
            }
        }
    }
}
