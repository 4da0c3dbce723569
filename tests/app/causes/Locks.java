package causes;

import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/** Main waits for another thread, by each kind of lock once. */
final class Locks {
    private static final int LONG_MS = 600_000;

    private Locks() {}

    /** The scenario of this name; null for any other name. */
    static Runnable of(String what) {
        return switch (what) {
            case "latch" -> new Hang(Feed::await);
            case "full-pool" -> new Hang(Images::decode);
            case "semaphore" -> new Hang(Slots::take);
            case "read-lock" -> new Hang(Prices::read);
            case "write-lock" -> new Hang(Prices::write);
            case "condition" -> new Hang(Inbox::next);
            case "take" -> new Hang(Inbox::take);
            case "put" -> new Hang(Inbox::put);
            case "cyclic" -> new Hang(Feed::meet);
            case "pool-end" -> new Hang(Images::close);
            case "completable" -> new Hang(Feed::joined);
            case "blocker" -> new Hang(Bridge::call);
            case "map" -> new Hang(Session::user);
            case "chain" -> new Hang(Session::save);
            case "class-init" -> new Hang(Session::open);
            default -> null;
        };
    }

    /**
     * Starts a thread of this name that runs {@code first}, and then sleeps. Returns when {@code first} is
     * done.
     */
    private static void thread(String name, final Runnable first) throws InterruptedException {
        final CountDownLatch done = new CountDownLatch(1);
        new Thread(name) {
            @Override
            public void run() {
                first.run();
                done.countDown();
                Causes.Work.sleep(LONG_MS);
            }
        }.start();
        done.await();
    }

    /** Data that other threads have to deliver. */
    static final class Feed {
        static void await() throws InterruptedException {
            CountDownLatch loaded = new CountDownLatch(1);
            loaded.await();
        }

        static void meet() throws Exception {
            new CyclicBarrier(2).await();
        }

        static void joined() {
            new CompletableFuture<String>().join();
        }
    }

    /** A pool of one thread that is busy with something else. */
    static final class Images {
        private static final ExecutorService POOL = Executors.newSingleThreadExecutor();

        static void decode() throws Exception {
            POOL.execute(() -> Causes.Work.sleep(LONG_MS));
            POOL.submit(() -> "image").get();
        }

        static void close() throws InterruptedException {
            POOL.execute(() -> Causes.Work.sleep(LONG_MS));
            POOL.shutdown();
            POOL.awaitTermination(1, TimeUnit.HOURS);
        }
    }

    /** Permits that another thread holds. */
    static final class Slots {
        private static final Semaphore FREE = new Semaphore(1);

        static void take() throws InterruptedException {
            thread("upload", FREE::acquireUninterruptibly);
            FREE.acquire();
        }
    }

    /**
     * A read-write lock that a reader holds. When main wants to read, a writer is ahead of it in the lock's
     * queue.
     */
    static final class Prices {
        private static final ReentrantReadWriteLock LOCK = new ReentrantReadWriteLock();

        static void read() throws InterruptedException {
            thread("export", Prices::hold);
            Thread writer = new Thread(Prices::update, "update");
            writer.start();
            while (!LOCK.hasQueuedThread(writer)) {
                Thread.sleep(1);
            }
            LOCK.readLock().lock();
        }

        static void write() throws InterruptedException {
            thread("export", Prices::hold);
            LOCK.writeLock().lock();
        }

        private static void hold() {
            LOCK.readLock().lock();
        }

        private static void update() {
            LOCK.writeLock().lock();
        }
    }

    /** A buffer that stays as it is: nothing is put in, and nothing is taken out. */
    static final class Inbox {
        private static final ReentrantLock LOCK = new ReentrantLock();
        private static final Condition MAIL = LOCK.newCondition();

        static void next() throws InterruptedException {
            LOCK.lock();
            MAIL.await();
        }

        static void take() throws InterruptedException {
            new LinkedBlockingQueue<String>().take();
        }

        static void put() throws InterruptedException {
            ArrayBlockingQueue<String> queue = new ArrayBlockingQueue<>(1);
            queue.put("first");
            queue.put("second");
        }
    }

    /**
     * Main parks again and again, without end. Each time the blocker is a new object, which no other thread
     * has.
     */
    static final class Bridge {
        static void call() {
            while (true) {
                LockSupport.park(new Object());
            }
        }
    }

    /** Locks that other threads hold. */
    static final class Session {
        private static final Map<String, String> VALUES = Collections.synchronizedMap(new HashMap<String, String>());
        private static final Object DISK = new Object();
        private static final Object CACHE = new Object();

        static String user() throws InterruptedException {
            thread("sync", () -> {
                CountDownLatch held = new CountDownLatch(1);
                new Thread(() -> hold(held), "migration").start();
                await(held);
            });
            return VALUES.get("user");
        }

        private static void hold(CountDownLatch held) {
            synchronized (VALUES) {
                held.countDown();
                Causes.Work.sleep(LONG_MS);
            }
        }

        /** Main waits for the cache's thread, which waits for the disk's. */
        static void save() throws InterruptedException {
            CountDownLatch disk = new CountDownLatch(1);
            new Thread(() -> holdDisk(disk), "disk").start();
            disk.await();
            CountDownLatch cache = new CountDownLatch(1);
            Thread cacheThread = new Thread(() -> holdCache(cache), "cache");
            cacheThread.start();
            cache.await();
            while (cacheThread.getState() != Thread.State.BLOCKED) {
                Thread.sleep(1);
            }
            synchronized (CACHE) {
                VALUES.clear();
            }
        }

        private static void holdDisk(CountDownLatch held) {
            synchronized (DISK) {
                held.countDown();
                Causes.Work.sleep(LONG_MS);
            }
        }

        private static void holdCache(CountDownLatch held) {
            synchronized (CACHE) {
                held.countDown();
                synchronized (DISK) {
                    VALUES.clear();
                }
            }
        }

        /**
         * Main waits for the class {@link Catalog}, because another thread runs the initializer of this
         * class.
         */
        static void open() throws InterruptedException {
            new Thread(Catalog::warmUp, "warm-up").start();
            BEGUN.await();
            Catalog.warmUp();
        }

        private static void await(CountDownLatch latch) {
            try {
                latch.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    private static final CountDownLatch BEGUN = new CountDownLatch(1);

    /** A class whose initializer does not end. */
    static final class Catalog {
        static {
            BEGUN.countDown();
            Causes.Work.sleep(LONG_MS);
        }

        private Catalog() {}

        static void warmUp() {}
    }
}
