package phone;

import android.os.SystemClock;
import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.ReentrantLock;
import scenario.Options;
import scenario.Script;

/**
 * The ways in which a thread hangs. {@code how=} is one of:
 *
 * <ul>
 *   <li>spin: Java code computes; native-spin: native code computes;
 *   <li>sleep, futex, nanosleep, fsync, vfork: the thread is in the call of this name;
 *   <li>monitor, lock: another thread holds the monitor or the lock;
 *   <li>gc: one collection follows the other;
 *   <li>full-heap: the heap is full, so that allocations have to wait for collections;
 *   <li>page: Java code reads from a mapping of the file {@code page};
 *   <li>binder: the thread makes a call of the driver of the file {@code driver}.
 * </ul>
 *
 * The files {@code page} and {@code driver} are in the folder {@code slow=} and do not answer; these two
 * hangs end only when the files answer. Any other hang ends after {@code ms=} (6 s), or when the file {@code
 * gate=} exists; then that file is deleted, so that the next hang waits for a new one.
 */
final class Hang {
    private static final Object MONITOR = new Object();
    private static final ReentrantLock LOCK = new ReentrantLock();
    private static final int PAUSE_MS = 5;
    /**
     * How long main sleeps at a time, in milliseconds: a thread that woke up often would mostly wait for a
     * processor on a busy machine.
     */
    private static final int SLEEP_MS = 200;
    private static final int SMALL = 1_000;
    /** The number of arrays of {@code SMALL} bytes to keep: more than the heap has room for. */
    private static final int MANY = 1_000_000;
    /** One of every {@code SPARED} arrays is freed again, to make room for what other threads need. */
    private static final int SPARED = 16;

    private final Options options;
    private final String how;
    private final CountDownLatch held = new CountDownLatch(1);
    private volatile boolean over;

    Hang(Options options) {
        this.options = options;
        how = options.text("how", "spin");
    }

    /**
     * Starts the {@link Holder} and waits until it runs, because a thread blocks every signal while it starts
     * another one. Then prints {@code place}, which is where main is, and hangs in the way that {@code how=}
     * names.
     */
    void begin(String place) {
        NativeWait.hold();
        Thread holder = new Holder();
        holder.start();
        try {
            held.await();
        } catch (InterruptedException interrupted) {
            throw new IllegalStateException(interrupted);
        }
        Script.say("hangs at " + place);
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
            case "gc":
                collect();
                break;
            case "full-heap":
                fillHeap();
                break;
            case "page":
                readMapping();
                break;
            case "binder":
                NativeWait.ioctl(new File(options.text("slow", "."), "driver").getPath());
                break;
            case "vfork":
                NativeWait.vfork();
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
            SystemClock.sleep(SLEEP_MS);
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

    private void collect() {
        while (!over) {
            Runtime.getRuntime().gc();
        }
    }

    /** Allocates arrays; whenever there is no room for another, frees one in {@code SPARED} of them. */
    private void fillHeap() {
        byte[][] kept = new byte[MANY][];
        for (int next = 0; !over; next = (next + 1) % MANY) {
            try {
                kept[next] = new byte[SMALL];
            } catch (OutOfMemoryError full) {
                for (int i = 0; i < MANY; i += SPARED) {
                    kept[i] = null;
                }
            }
        }
    }

    private byte readMapping() {
        try {
            RandomAccessFile file = new RandomAccessFile(new File(options.text("slow", "."), "page"), "r");
            ByteBuffer page = file.getChannel().map(FileChannel.MapMode.READ_ONLY, 0, file.length());
            return page.get(0);
        } catch (IOException failed) {
            throw new IllegalStateException(failed);
        }
    }

    /** Detects when the hang is over, and until then holds what the main thread waits for. */
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
            String path = options.text("gate", "");
            File gate = path.isEmpty() ? null : new File(path);
            long end = SystemClock.uptimeMillis() + options.number("ms", 6_000);
            held.countDown();
            while (!isOver(gate, end)) {
                // Again.
            }
            over = true;
            NativeWait.release();
        }

        /**
         * Waits a little. Returns whether the hang is over. When the heap is full, the check may find no
         * memory until main frees some.
         */
        private boolean isOver(File gate, long end) {
            try {
                SystemClock.sleep(PAUSE_MS);
                return gate == null ? SystemClock.uptimeMillis() >= end : gate.delete();
            } catch (OutOfMemoryError full) {
                return false;
            }
        }
    }
}
