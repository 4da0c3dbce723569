// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.sample;

import android.os.Handler;
import android.os.Looper;
import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.util.Arrays;
import java.util.concurrent.CountDownLatch;

/** Provokes each kind of trouble that a main thread gets into, in a separate message. */
public final class Hangs {
    /** The kinds of trouble. Their names in lower case are the texts of the buttons. */
    public enum Kind {
        /** Computes for too long. */
        BUSY,
        /** Waits for a lock that a working thread holds. */
        LOCK,
        /** Writes and syncs a file. */
        DISK,
        /** Sleeps, like code that polls for something. */
        SLEEP,
        /** Each message is short, but there are thousands of them. */
        FLOOD,
        /** Waits for a thread that waits for the main thread: an ANR that does not end by itself. */
        DEADLOCK
    }

    private static final int FLOOD_MESSAGES = 3_000;
    private static final int BLOCK_BYTES = 64 << 10;

    private final Handler handler = new Handler(Looper.getMainLooper());
    private final Object shelf = new Object();
    private final Object till = new Object();
    private final File folder;

    /** @param folder where {@link Kind#DISK} may write */
    public Hangs(File folder) {
        this.folder = folder;
    }

    /**
     * Posts a message with this kind of trouble. The message takes about {@code ms}, except {@link
     * Kind#DEADLOCK}, which never ends.
     */
    public void provoke(Kind kind, long ms) {
        switch (kind) {
            case BUSY:
                handler.post(new Busy(ms));
                break;
            case LOCK:
                handler.post(new WaitForShelf(ms));
                break;
            case DISK:
                handler.post(new SaveAll(ms));
                break;
            case SLEEP:
                handler.post(new TryAgain(ms));
                break;
            case FLOOD:
                Busy little = new Busy(Math.max(1, ms / FLOOD_MESSAGES));
                for (int i = 0; i < FLOOD_MESSAGES; i++) {
                    handler.post(little);
                }
                break;
            case DEADLOCK:
                handler.post(new Embrace());
                break;
            default:
                throw new IllegalArgumentException(String.valueOf(kind));
        }
    }

    private static long now() {
        return System.nanoTime() / 1_000_000;
    }

    private static void sleep(long ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException ended) {
            Thread.currentThread().interrupt();
        }
    }

    private static final class Busy implements Runnable {
        private final long ms;

        Busy(long ms) {
            this.ms = ms;
        }

        @Override
        public void run() {
            long end = now() + ms;
            int[] numbers = new int[1_000];
            while (now() < end) {
                for (int i = 0; i < numbers.length; i++) {
                    numbers[i] = numbers.length - i;
                }
                Arrays.sort(numbers);
            }
        }
    }

    private final class WaitForShelf implements Runnable {
        private final long ms;

        WaitForShelf(long ms) {
            this.ms = ms;
        }

        @Override
        public void run() {
            final CountDownLatch held = new CountDownLatch(1);
            new Thread("librarian") {
                @Override
                public void run() {
                    synchronized (shelf) {
                        held.countDown();
                        Hangs.sleep(ms);
                    }
                }
            }.start();
            await(held);
            synchronized (shelf) {
                shelf.notifyAll();
            }
        }
    }

    private final class SaveAll implements Runnable {
        private final long ms;

        SaveAll(long ms) {
            this.ms = ms;
        }

        @Override
        public void run() {
            long end = now() + ms;
            File file = new File(folder, "books");
            try {
                RandomAccessFile out = new RandomAccessFile(file, "rw");
                try {
                    byte[] block = new byte[BLOCK_BYTES];
                    while (now() < end) {
                        out.seek(0);
                        out.write(block);
                        out.getFD().sync();
                    }
                } finally {
                    out.close();
                }
            } catch (IOException full) {
                throw new IllegalStateException(full);
            }
        }
    }

    private static final class TryAgain implements Runnable {
        private final long ms;

        TryAgain(long ms) {
            this.ms = ms;
        }

        @Override
        public void run() {
            long end = now() + ms;
            while (now() < end) {
                sleep(50);
            }
        }
    }

    private final class Embrace implements Runnable {
        @Override
        public void run() {
            final CountDownLatch held = new CountDownLatch(1);
            synchronized (shelf) {
                new Thread("cashier") {
                    @Override
                    public void run() {
                        synchronized (till) {
                            held.countDown();
                            synchronized (shelf) {
                                shelf.notifyAll();
                            }
                        }
                    }
                }.start();
                await(held);
                synchronized (till) {
                    till.notifyAll();
                }
            }
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException ended) {
            Thread.currentThread().interrupt();
        }
    }
}
