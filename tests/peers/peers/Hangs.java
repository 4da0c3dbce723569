package peers;

import android.os.BinderProxy;
import android.os.Handler;
import android.os.Looper;
import android.os.MessageQueue;
import android.os.Parcel;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;

/**
 * Hangs in one way, while peers watch. Arguments: the peers, with commas; the hang. Prints what each reports,
 * and when the hang began and was over.
 */
public final class Hangs {
    private static final int WARM_MS = 2_000;
    private static final int HANG_MS = 12_000;
    /** How long the process lives after the hang: until the slowest peer has checked once more. */
    private static final int AFTER_MS = 3_000;

    private static final Handler MAIN = mainHandler();
    private static volatile long sink;

    private Hangs() {}

    private static Handler mainHandler() {
        Looper.prepareMainLooper();
        return new Handler(Looper.getMainLooper());
    }

    public static void main(String[] arguments) {
        for (String name : arguments[0].split(",")) {
            try {
                if (!Peer.of(name).install()) {
                    Peer.say("refused", name + " off");
                }
            } catch (Throwable refused) {
                refused.printStackTrace();
                Peer.say("refused", name + " " + refused);
            }
        }
        Runnable hang = of(arguments[1]);
        // Its message is the hang's own, so that who names messages names it.
        MAIN.postDelayed(() -> begin(arguments[1]), WARM_MS);
        MAIN.postDelayed(hang, WARM_MS + 1);
        Looper.loop();
    }

    private static void begin(String name) {
        Peer.say("hang", name);
        if (!name.equals("quiet") && !name.equals("frozen")) {
            Peer.context.hangs();
        }
    }

    /** Notes that the hang is over. The process ends a little later. */
    private static void over() {
        Peer.context.responds();
        Peer.say("over", "");
        new Thread("end") {
            @Override public void run() {
                Hangs.sleep(AFTER_MS);
                Runtime.getRuntime().halt(0);
            }
        }.start();
    }

    /**
     * Ends the hang in a message that follows, so that what a peer does at the end of the hanging message
     * still counts as during the hang.
     */
    private static void overNext() {
        MAIN.postDelayed(Hangs::over, 1);
    }

    private static Runnable of(String name) {
        switch (name) {
            case "compute":
                return new Invoice();
            case "sleep":
                return new Nap();
            case "flood":
                return new Drop();
            case "monitor":
                return new Reader();
            case "culprit":
                return new Culprit();
            case "nested":
                return new Dialog();
            case "idle":
                return new Tidy();
            case "binder":
                return new Shop();
            case "heap":
                return new Gallery();
            case "starved":
                return new Starved();
            case "barrier":
            case "barrier-quit":
                return new Barrier();
            case "quiet":
            case "frozen":
                return new Quiet();
            default:
                throw new IllegalArgumentException(name);
        }
    }

    static void busy(int ms) {
        long until = System.nanoTime() + ms * 1_000_000L;
        while (System.nanoTime() - until < 0) {
            sink++;
        }
    }

    static void sleep(int ms) {
        Peer.sleep(ms);
    }

    /** Computes. */
    static final class Invoice implements Runnable {
        @Override public void run() {
            total();
            overNext();
        }

        private static void total() {
            busy(HANG_MS);
        }
    }

    /** Sleeps. */
    static final class Nap implements Runnable {
        @Override public void run() {
            Hangs.sleep(HANG_MS);
            overNext();
        }
    }

    /** Posts many short messages at once. */
    static final class Drop implements Runnable {
        @Override public void run() {
            for (int i = 0; i < Leaf.LEAVES; i++) {
                MAIN.post(new Leaf());
            }
        }
    }

    /** One of the short messages of {@link Drop}. */
    static final class Leaf implements Runnable {
        private static final int LEAVES = 200;
        private static final int EACH_MS = 55;
        private static int left = LEAVES;

        @Override public void run() {
            busy(EACH_MS);
            if (--left == 0) {
                overNext();
            }
        }
    }

    /** Waits for a monitor that another thread has. */
    static final class Reader implements Runnable {
        private static final Object CACHE = new Object();

        @Override public void run() {
            Thread writer = new Thread("cache-writer") {
                @Override public void run() {
                    synchronized (CACHE) {
                        Writer.flush();
                    }
                }
            };
            writer.start();
            while (writer.getState() != Thread.State.TIMED_WAITING) {
                Thread.yield();
            }
            read();
            overNext();
        }

        private static void read() {
            synchronized (CACHE) {
                sink++;
            }
        }
    }

    /** The code that the other thread of {@link Reader} runs while it holds the monitor. */
    static final class Writer {
        private Writer() {}

        static void flush() {
            Hangs.sleep(HANG_MS);
        }
    }

    /** A long message, shorter than any threshold, and then innocent messages that were waiting behind it. */
    static final class Culprit implements Runnable {
        private static final int MS = 4_600;

        @Override public void run() {
            for (int i = 0; i < Innocent.INNOCENTS; i++) {
                MAIN.post(new Innocent());
            }
            busy(MS);
        }
    }

    /** One of the messages that waited behind {@link Culprit}. */
    static final class Innocent implements Runnable {
        private static final int INNOCENTS = 45;
        private static final int EACH_MS = 150;
        private static int left = INNOCENTS;

        @Override public void run() {
            busy(EACH_MS);
            if (--left == 0) {
                overNext();
            }
        }
    }

    /** A message that runs a loop, in which another one hangs. */
    static final class Dialog implements Runnable {
        /** Ends the loop. */
        private static final class Dismissed extends RuntimeException {
            private Dismissed() {
                super("dismissed", null, false, false);
            }
        }

        @Override public void run() {
            MAIN.post(new Button());
            try {
                Looper.loop();
            } catch (Dismissed end) {
                overNext();
            }
        }
    }

    /** The message that hangs in the loop of {@link Dialog}. */
    static final class Button implements Runnable {
        @Override public void run() {
            click();
            MAIN.post(() -> {
                throw new Dialog.Dismissed();
            });
        }

        private static void click() {
            busy(HANG_MS);
        }
    }

    /** Computes while the queue is idle. */
    static final class Tidy implements Runnable, MessageQueue.IdleHandler {
        @Override public void run() {
            Looper.myQueue().addIdleHandler(this);
        }

        @Override public boolean queueIdle() {
            busy(HANG_MS);
            overNext();
            return false;
        }
    }

    /** Waits for another process, which does not answer. */
    static final class Shop implements Runnable {
        @Override public void run() {
            new Thread("over") {
                @Override public void run() {
                    Hangs.sleep(HANG_MS);
                    over();
                }
            }.start();
            price();
        }

        private static void price() {
            new BinderProxy().transact(1, Parcel.obtain(), Parcel.obtain(), 0);
        }
    }

    /** Allocates where there is next to no room. */
    static final class Gallery implements Runnable {
        private static final int KEPT = (64 << 10) - 16;
        private static final int MADE = 16 << 10;
        private static final int FULL = 90;
        private static final List<byte[]> CACHE = new ArrayList<>();
        private static volatile byte[] shown;

        Gallery() {
            Runtime runtime = Runtime.getRuntime();
            long wanted = runtime.maxMemory() / 100 * FULL;
            runtime.gc();
            for (long kept = runtime.totalMemory() - runtime.freeMemory(); kept < wanted; kept += KEPT) {
                CACHE.add(new byte[KEPT]);
            }
        }

        @Override public void run() {
            long until = System.nanoTime() + HANG_MS * 1_000_000L;
            while (System.nanoTime() - until < 0) {
                show();
            }
            CACHE.clear();
            overNext();
        }

        private static void show() {
            shown = new byte[MADE];
        }
    }

    /** The app's own threads take the processors; what main does takes no time by itself. */
    static final class Starved implements Runnable {
        private static final int THREADS = 24;
        private static final int WORK_MS = 600;

        @Override public void run() {
            for (int i = 0; i < THREADS; i++) {
                new Thread("decoder-" + i) {
                    @Override public void run() {
                        busy(HANG_MS);
                    }
                }.start();
            }
            Passer.work();
            overNext();
        }
    }

    /** The code of main's message in {@link Starved}. */
    static final class Passer {
        private Passer() {}

        static void work() {
            long until = dalvik.system.VMDebug.threadCpuTimeNanos() + Starved.WORK_MS * 1_000_000L;
            while (dalvik.system.VMDebug.threadCpuTimeNanos() - until < 0) {
                sink++;
            }
        }
    }

    /** Leaks a sync barrier, behind which no ordinary message runs. */
    static final class Barrier implements Runnable {
        private static final int WAITING = 20;

        @Override public void run() {
            final MessageQueue queue = Looper.myQueue();
            try {
                Method post = MessageQueue.class.getDeclaredMethod("postSyncBarrier");
                post.setAccessible(true);
                final int token = (Integer) post.invoke(queue);
                for (int i = 0; i < WAITING; i++) {
                    MAIN.sendEmptyMessage(i);
                }
                new Thread("remover") {
                    @Override public void run() {
                        Hangs.sleep(HANG_MS);
                        try {
                            Method remove = MessageQueue.class.getDeclaredMethod("removeSyncBarrier", int.class);
                            remove.setAccessible(true);
                            over();
                            remove.invoke(queue, token);
                        } catch (ReflectiveOperationException gone) {
                            throw new AssertionError(gone);
                        }
                    }
                }.start();
            } catch (ReflectiveOperationException gone) {
                throw new AssertionError(gone);
            }
        }
    }

    /** A time in which main has no message, so that there is no hang. */
    static final class Quiet implements Runnable {
        @Override public void run() {
            MAIN.postDelayed(Hangs::over, HANG_MS);
        }
    }
}
