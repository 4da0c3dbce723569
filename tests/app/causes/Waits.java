package causes;

import android.os.Looper;
import android.os.MessageQueue;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Scenarios in which main waits, but not for a {@code synchronized} lock: another thread does not do what
 * main waits for, or nothing arrives from outside.
 */
final class Waits {
    private Waits() {}

    static Runnable of(String what) {
        return switch (what) {
            case "reentrant" -> new Hang(() -> Ledger.book(false));
            case "crossed" -> new Hang(() -> Ledger.book(true));
            case "wait" -> new Hang(Mailbox::take);
            case "join" -> new Hang(Crew::finish);
            case "own-join" -> new Hang(Crew::finishItself);
            case "future" -> new Hang(Quote::fetch);
            case "park" -> new Hang(Loader::block);
            case "network" -> new Hang(Api::read);
            case "idle" -> new Hang(() -> Looper.myQueue().addIdleHandler(new Trim()));
            default -> throw new IllegalArgumentException(what);
        };
    }

    /** A lock of {@code java.util.concurrent}, which ART does not know. */
    static final class Ledger {
        private static final ReentrantLock PAGE = new ReentrantLock();
        private static final ReentrantLock INDEX = new ReentrantLock();

        static void book(final boolean crossed) throws InterruptedException {
            final CountDownLatch held = new CountDownLatch(1);
            if (crossed) {
                INDEX.lock();
            }
            new Thread("holder") {
                @Override
                public void run() {
                    audit(crossed, held);
                }
            }.start();
            held.await();
            PAGE.lock();
        }

        static void audit(boolean crossed, CountDownLatch held) {
            PAGE.lock();
            held.countDown();
            if (crossed) {
                INDEX.lock();
            } else {
                Causes.Work.sleep(600_000);
            }
        }
    }

    /** A notification that is never sent. */
    static final class Mailbox {
        private static final Object MAIL = new Object();

        static void take() throws InterruptedException {
            synchronized (MAIL) {
                MAIL.wait();
            }
        }
    }

    /** A thread that never ends. */
    static final class Crew {
        static void finish() throws InterruptedException {
            Thread worker = new Thread("worker") {
                @Override
                public void run() {
                    Causes.Work.sleep(600_000);
                }
            };
            worker.start();
            worker.join();
        }

        static void finishItself() throws InterruptedException {
            Thread.currentThread().join();
        }
    }

    /** A result that never comes. */
    static final class Quote {
        static void fetch() throws Exception {
            FutureTask<String> task = new FutureTask<>(new Callable<String>() {
                @Override
                public String call() {
                    Causes.Work.sleep(600_000);
                    return "";
                }
            });
            new Thread(task, "quotes").start();
            task.get();
        }
    }

    /** Waits as {@code runBlocking} does: parked repeatedly, each time for a while. */
    static final class Loader {
        static void block() {
            while (true) {
                LockSupport.parkNanos(1_000_000_000L);
            }
        }
    }

    /** A server that does not answer. */
    static final class Api {
        static void read() throws IOException {
            InetAddress here = InetAddress.getByAddress(new byte[] {127, 0, 0, 1});
            ServerSocket server = new ServerSocket(0, 1, here);
            Socket client = new Socket(here, server.getLocalPort());
            client.getInputStream().read();
        }
    }

    /** An idle handler, which runs between messages, where no hook sees it. */
    static final class Trim implements MessageQueue.IdleHandler {
        @Override
        public boolean queueIdle() {
            Causes.Work.busy(600_000);
            return false;
        }
    }
}
