package scenario;

import android.os.Handler;
import android.os.Looper;
import android.os.Process;
import io.loopbox.Loopbox;
import io.loopbox.Status;
import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A message that waits for a lock. Arguments: those of {@link Options}, and {@code mode}: {@code entering}:
 * another thread holds the lock; {@code waiting}: main is in Object.wait, and no thread holds the lock;
 * {@code chain}: three holders, each waiting for the lock of the next one; {@code deadlock}: main and another
 * thread wait for each other; {@code disk}: the holder waits for a page of the file {@code page} in the
 * folder {@code slow=}, and 20 threads that were started after it sleep; {@code working}: main waits for no
 * lock. The app prints a line when main waits, and the test then sends the signal. {@code gate=FILE}: the
 * last holder releases its lock when that file appears.
 */
public final class Holders {
    static final class Basket {}

    static final class Price {}

    static final Object CART = new Basket();
    static final Object SHOP = new Price();

    /** Whether main is about to wait. */
    private static volatile boolean ready;

    private static volatile boolean working;

    private static volatile String gate;

    private static volatile String slow;

    private Holders() {}

    public static void main(String[] arguments) {
        Options options = new Options(arguments);
        final String mode = options.text("mode", "entering");
        gate = options.text("gate", "");
        slow = options.text("slow", "");
        Looper.prepareMainLooper();
        if (!Loopbox.install(options.config().hangMs(options.number("hangMs", 5_000)).build()).isOn()) {
            Script.say("not installed");
            return;
        }
        final Thread main = Thread.currentThread();
        final Handler handler = new Handler(Looper.myLooper());
        handler.post(new Runnable() {
            @Override
            public void run() {
                // Until the sampler has examined ART other threads are unknown.
                if (!samples()) {
                    handler.postDelayed(this, 20);
                    return;
                }
                try {
                    hang(mode, main);
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            }
        });
        Looper.loop();
    }

    private static boolean samples() {
        for (Status.Part part : Loopbox.status().getParts()) {
            if (part.getName().equals("sampler")) {
                return part.isOn();
            }
        }
        return false;
    }

    static void hang(String mode, final Thread main) throws InterruptedException {
        new Thread("watcher") {
            @Override
            public void run() {
                while (!working && !(ready && waits(main))) {
                    Thread.yield();
                }
                Script.say("main waits");
            }
        }.start();
        switch (mode) {
            case "entering":
                hold("holder", CART, null);
                pay();
                break;
            case "waiting":
                synchronized (SHOP) {
                    ready = true;
                    SHOP.wait();
                }
                break;
            case "chain":
                hold("last", Holders.class, null);
                hold("middle", SHOP, Holders.class);
                hold("holder", CART, SHOP);
                pay();
                break;
            case "deadlock":
                synchronized (SHOP) {
                    hold("holder", CART, SHOP);
                    pay();
                }
                break;
            case "disk":
                read("holder", CART);
                for (int i = 0; i < 20; i++) {
                    hold("sleeper", new Object(), null);
                }
                pay();
                break;
            default:
                hold("holder", CART, null);
                working = true;
                Work.busy(600_000);
        }
    }

    static boolean waits(Thread thread) {
        return thread.getState() == Thread.State.BLOCKED || thread.getState() == Thread.State.WAITING;
    }

    static void pay() {
        ready = true;
        synchronized (CART) {
            Script.say("main goes on");
        }
    }

    /**
     * Starts a thread that takes {@code lock} and then waits for {@code next}, or sleeps when that is null.
     * Returns when the thread waits or sleeps.
     */
    static void hold(String name, final Object lock, final Object next) throws InterruptedException {
        final CountDownLatch inside = new CountDownLatch(1);
        Thread holder = new Thread(name) {
            @Override
            public void run() {
                synchronized (lock) {
                    inside.countDown();
                    if (next == null) {
                        deliver();
                    } else {
                        ask(next);
                    }
                }
            }
        };
        holder.start();
        inside.await();
        Thread.State until = next == null ? Thread.State.TIMED_WAITING : Thread.State.BLOCKED;
        // In a deadlock, and in a chain, the one asked for is taken already.
        while (holder.getState() != until) {
            Thread.yield();
        }
    }

    /**
     * Starts a thread that takes {@code lock} and then, in Java code, waits for a page that the disk does not
     * deliver. Returns when the thread waits.
     */
    static void read(String name, final Object lock) throws InterruptedException {
        final AtomicInteger tid = new AtomicInteger();
        new Thread(name) {
            @Override
            public void run() {
                synchronized (lock) {
                    try {
                        FileChannel file = new RandomAccessFile(new File(slow, "page"), "r").getChannel();
                        ByteBuffer page = file.map(FileChannel.MapMode.READ_ONLY, 0, file.size());
                        tid.set(Process.myTid());
                        Script.say("impossible: " + page.get(0));
                    } catch (IOException failed) {
                        throw new IllegalStateException(failed);
                    }
                }
            }
        }.start();
        while (tid.get() == 0 || !isUninterruptible(tid.get())) {
            Thread.sleep(5);
        }
    }

    private static boolean isUninterruptible(int tid) {
        try (RandomAccessFile stat = new RandomAccessFile("/proc/self/task/" + tid + "/stat", "r")) {
            return stat.readLine().contains(") D ");
        } catch (IOException gone) {
            throw new IllegalStateException(gone);
        }
    }

    static void deliver() {
        try {
            do {
                Thread.sleep(gate.isEmpty() ? 600_000 : 20);
            } while (!new File(gate).exists());
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    static void ask(Object next) {
        synchronized (next) {
            Script.say("impossible");
        }
    }
}
