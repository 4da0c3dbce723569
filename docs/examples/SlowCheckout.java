// SPDX-License-Identifier: MIT OR Apache-2.0
import android.os.Handler;
import android.os.Looper;
import android.os.SystemClock;
import io.loopbox.Config;
import io.loopbox.Listener;
import io.loopbox.Loopbox;
import io.loopbox.Report;
import java.io.File;

/**
 * An app whose checkout hangs: its message waits for the lock of the cart. Another thread holds this lock
 * until the report about the hang is complete.
 */
public final class SlowCheckout implements Runnable, Listener {
    private final Object cart = new Object();
    private volatile boolean reported;

    public static void main(String[] arguments) {
        Looper.prepareMainLooper();
        SlowCheckout app = new SlowCheckout();
        File reports = new File(System.getProperty("java.io.tmpdir"));
        Loopbox.install(new Config.Builder(reports).hangMs(1_000).listener(app).build());
        app.sync();
        new Handler().post(app);
        Looper.loop();
    }

    /**
     * Starts a thread that holds the cart's lock until the recorder has reported the hang. Returns when the
     * thread has the lock.
     */
    private void sync() {
        final Thread sync =
                new Thread("sync") {
                    @Override
                    public void run() {
                        synchronized (cart) {
                            synchronized (this) {
                                notifyAll();
                            }
                            while (!reported) {
                                SystemClock.sleep(10);
                            }
                        }
                    }
                };
        synchronized (sync) {
            sync.start();
            try {
                sync.wait();
            } catch (InterruptedException interrupted) {
                throw new IllegalStateException(interrupted);
            }
        }
    }

    @Override
    public void run() {
        synchronized (cart) {
            System.out.println("paid");
        }
        System.exit(0);
    }

    /** On the listener's thread. */
    @Override
    public void onReport(Report report) {
        System.out.println("noticed: " + report.getReason());
        reported = true;
    }
}
