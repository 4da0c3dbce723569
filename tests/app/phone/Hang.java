package phone;

import android.os.SystemClock;
import java.io.File;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.ReentrantLock;
import scenario.Options;

/**
 * What a thread can do instead of going on: {@code how=} spin (Java code), sleep, monitor and lock (another thread holds
 * it), native-spin, futex, nanosleep, fsync. It ends after {@code ms=} (6 s), or when the file {@code gate=} is there.
 */
final class Hang {
    private static final Object MONITOR = new Object();
    private static final ReentrantLock LOCK = new ReentrantLock();
    private static final int PAUSE_MS = 5;

    private final Options options;
    private final String how;
    private final CountDownLatch held = new CountDownLatch(1);
    private volatile boolean over;

    Hang(Options options) {
        this.options = options;
        how = options.text("how", "spin");
    }

    void begin() {
        NativeWait.hold();
        Thread holder = new Holder();
        holder.start();
        try {
            held.await();
        } catch (InterruptedException interrupted) {
            throw new IllegalStateException(interrupted);
        }
        switch (how) {
            case "spin":
                spin();
                break;
            case "sleep":
                sleep();
                break;
            case "monitor":
                waitForMonitor();
                break;
            case "lock":
                waitForLock();
                break;
            case "native-spin":
                NativeWait.spin();
                break;
            case "futex":
                NativeWait.futex();
                break;
            case "nanosleep":
                NativeWait.nanosleep();
                break;
            case "fsync":
                NativeWait.fsync(new File(options.text("dir", "."), "fsync").getPath());
                break;
            default:
                throw new IllegalArgumentException("how=" + how);
        }
    }

    private long spin() {
        long turns = 0;
        while (!over) {
            turns++;
        }
        return turns;
    }

    private void sleep() {
        while (!over) {
            SystemClock.sleep(PAUSE_MS);
        }
    }

    private void waitForMonitor() {
        synchronized (MONITOR) {
            over = true;
        }
    }

    private void waitForLock() {
        LOCK.lock();
        LOCK.unlock();
    }

    /** Knows when it is over, and holds until then what the main thread waits for. */
    private final class Holder extends Thread {
        Holder() {
            super("holder");
        }

        @Override
        public void run() {
            if (how.equals("monitor")) {
                synchronized (MONITOR) {
                    hold();
                }
            } else if (how.equals("lock")) {
                LOCK.lock();
                hold();
                LOCK.unlock();
            } else {
                hold();
            }
        }

        private void hold() {
            held.countDown();
            String gate = options.text("gate", "");
            long end = SystemClock.uptimeMillis() + options.number("ms", 6_000);
            while (gate.isEmpty() ? SystemClock.uptimeMillis() < end : !new File(gate).exists()) {
                SystemClock.sleep(PAUSE_MS);
            }
            over = true;
            NativeWait.release();
        }
    }
}
