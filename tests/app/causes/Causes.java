package causes;

import android.app.ContextImpl;
import android.content.Context;
import android.os.Handler;
import android.os.Looper;
import android.os.MessageQueue;
import io.loopbox.Config;
import io.loopbox.Loopbox;
import java.io.File;
import java.io.RandomAccessFile;
import java.lang.reflect.Method;

/**
 * Hangs for the chosen reason, and leaves a report while it hangs. Arguments: the folder for reports, the
 * reason. Another thread requests the report, as the signal of an ANR would.
 */
public final class Causes {
    private static final Object LOCK = new Object();
    private static final Object OTHER = new Object();
    static final int HANG_MS = 3_500;
    /**
     * The length of hangs in which the recorder must measure more than there is time for in {@link #HANG_MS}.
     */
    private static final int LONG_HANG_MS = 7_000;
    /** The length of a hang in which main is mostly stopped, or that consists of two messages. */
    private static final int STOPPED_HANG_MS = 5_500;
    private static volatile long sink;

    private Causes() {}

    public static void main(String[] args) throws Exception {
        Looper.prepareMainLooper();
        Config config = new Config.Builder(new File(args[0])).build();
        // The framework is asked whether a debugger is attached.
        boolean asks = args[1].startsWith("debugger");
        Context context = asks ? new ContextImpl(new File(args[0]), "com.example.causes", "com.example.causes") : null;
        if (!(asks ? Loopbox.install(context, config) : Loopbox.install(config)).isOn()) {
            throw new IllegalStateException("not installed");
        }
        final Handler handler = new Handler(Looper.getMainLooper());
        if (args[1].equals("touch")) {
            handler.post(new Touch(new File(args[0])));
            Looper.loop();
        }
        final Runnable cause = cause(args[1], handler);
        final int ms = hangMs(args[1]);
        handler.post(new Runnable() {
            @Override public void run() {
                reportAfter(ms);
            }
        });
        handler.post(cause);
        Looper.loop();
    }

    private static int hangMs(String name) {
        if (Crowd.of(name) != null || name.equals("threads")) {
            return LONG_HANG_MS;
        }
        return Stops.of(name) != null || Past.of(name, null) != null ? STOPPED_HANG_MS : HANG_MS;
    }

    static void reportAfter(final int ms) {
        new Thread("reporter") {
            @Override public void run() {
                sleep(ms);
                File report;
                do {
                    // It waits for some time only, which is too short where the runtime stops all threads.
                    report = Loopbox.dump("cause");
                } while (report == null);
                System.out.println("SCRIPT report " + report);
                System.out.flush();
            }

            private void sleep(int ms) {
                try {
                    Thread.sleep(ms);
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            }
        }.start();
    }

    private static Runnable cause(final String name, final Handler handler) throws Exception {
        switch (name) {
            case "busy":
                return new Runnable() {
                    @Override public void run() {
                        Invoice.render();
                    }
                };
            case "victim":
                return new Runnable() {
                    @Override public void run() {
                        Work.busy(3_000);
                        handler.post(new Short(handler));
                    }
                };
            case "flood":
                return new Flood(handler);
            case "barrier":
                return new Runnable() {
                    @Override public void run() {
                        leakBarrier();
                        for (int i = 0; i < 5; i++) {
                            handler.sendEmptyMessage(7);
                        }
                    }
                };
            case "lock":
                holdLock(null);
                return new Runnable() {
                    @Override public void run() {
                        synchronized (LOCK) {
                            sink++;
                        }
                    }
                };
            case "deadlock":
                return new Runnable() {
                    @Override public void run() {
                        synchronized (OTHER) {
                            holdLock(OTHER);
                            synchronized (LOCK) {
                                sink++;
                            }
                        }
                    }
                };
            case "sleep":
                return new Runnable() {
                    @Override public void run() {
                        Work.sleep(60_000);
                    }
                };
            case "files":
                return new Runnable() {
                    @Override public void run() {
                        Files.writeForEver();
                    }
                };
            case "gc":
                return new Runnable() {
                    @Override public void run() {
                        while (true) {
                            Runtime.getRuntime().gc();
                        }
                    }
                };
            case "free":
                return new Runnable() {
                    @Override public void run() {}
                };
            default:
                Runnable[] others = {
                    Crowd.of(name), Platform.of(name), Locks.of(name), Ends.of(name), Screens.of(name), Stops.of(name),
                    Past.of(name, handler)
                };
                for (Runnable other : others) {
                    if (other != null) {
                        return other;
                    }
                }
                return Waits.of(name);
        }
    }

    /** Computes for ever. */
    static final class Invoice {
        static void render() {
            while (true) {
                total();
            }
        }

        private static void total() {
            Work.busy(50);
        }
    }

    /** Posts itself again, so that short messages follow the long one. */
    static final class Short implements Runnable {
        private final Handler handler;

        Short(Handler handler) {
            this.handler = handler;
        }

        @Override public void run() {
            Work.busy(5);
            handler.postDelayed(this, 5);
        }
    }

    /** Each message posts two more, so the queue only grows. */
    static final class Flood implements Runnable {
        private final Handler handler;

        Flood(Handler handler) {
            this.handler = handler;
        }

        @Override public void run() {
            Work.busy(4);
            for (int i = 0; i < 2; i++) {
                handler.post(this);
            }
        }
    }

    static final class Work {
        static void busy(int ms) {
            long until = System.nanoTime() + ms * 1_000_000L;
            while (System.nanoTime() - until < 0) {
                sink++;
            }
        }

        static void sleep(int ms) {
            try {
                Thread.sleep(ms);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    static final class Files {
        static void writeForEver() {
            try {
                File file = File.createTempFile("cause", null);
                file.deleteOnExit();
                RandomAccessFile out = new RandomAccessFile(file, "rws");
                byte[] block = new byte[1 << 20];
                while (true) {
                    out.seek(0);
                    out.write(block);
                }
            } catch (java.io.IOException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    /**
     * Another thread takes {@code LOCK} and keeps it. Then it waits for the lock {@code other}; if {@code
     * other} is null, it sleeps instead.
     */
    private static void holdLock(final Object other) {
        final java.util.concurrent.CountDownLatch held = new java.util.concurrent.CountDownLatch(1);
        Thread holder = new Thread("holder") {
            @Override public void run() {
                synchronized (LOCK) {
                    held.countDown();
                    if (other == null) {
                        Work.sleep(60_000);
                        return;
                    }
                    synchronized (other) {
                        sink++;
                    }
                }
            }
        };
        holder.start();
        try {
            held.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Leaks a barrier, as views do when another thread changes them: it is never removed. */
    private static void leakBarrier() {
        try {
            MessageQueue queue = Looper.myQueue();
            Method post = MessageQueue.class.getDeclaredMethod("postSyncBarrier");
            post.setAccessible(true);
            post.invoke(queue);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }
}
