package causes;

import android.os.Handler;
import android.os.Looper;
import android.os.Message;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** Scenarios in which nothing is slow by itself, but there is too much of it. */
final class Crowd {
    private Crowd() {}

    /** The scenario of this name; null for any other name. */
    static Runnable of(String what) {
        return switch (what) {
            case "pool" -> new Hang(() -> {
                Thumbnails.decodeAll();
                Causes.Invoice.render();
            });
            case "kinds" -> new Hang(() -> {
                new Prices().sendEmptyMessage(0);
                new Badges().sendEmptyMessage(0);
                new Banners().sendEmptyMessage(0);
            });
            case "pressure" -> {
                // Not in the message that hangs: a collection that is asked for takes seconds on a loaded
                // machine.
                Gallery.fill();
                yield new Hang(Gallery::show);
            }
            default -> null;
        };
    }

    /** Keeps images until there is hardly any room in the heap for new ones. */
    static final class Gallery {
        /**
         * The length of a kept array. With its header it fills a quarter of a region of the collector, so
         * that no space is lost between arrays.
         */
        private static final int KEPT = (64 << 10) - 16;
        private static final int MADE = 16 << 10;
        /** How much of the heap is filled, in per cent. */
        private static final int FULL = 90;

        private static final List<byte[]> CACHE = new ArrayList<byte[]>();
        private static volatile byte[] shown;

        /** Fills the heap once, however often it is called. */
        static void fill() {
            if (!CACHE.isEmpty()) {
                return;
            }
            Runtime runtime = Runtime.getRuntime();
            long wanted = runtime.maxMemory() / 100 * FULL;
            runtime.gc();
            long kept = runtime.totalMemory() - runtime.freeMemory();
            for (; kept < wanted; kept += KEPT) {
                CACHE.add(new byte[KEPT]);
            }
        }

        static void show() {
            while (true) {
                scale();
            }
        }

        private static void scale() {
            shown = new byte[MADE];
        }
    }

    /** A pool with many more threads than there are processors. */
    static final class Thumbnails {
        private static final int EACH = 8;

        static void decodeAll() {
            int threads = EACH * Runtime.getRuntime().availableProcessors();
            ExecutorService pool = Executors.newFixedThreadPool(threads);
            for (int i = 0; i < threads; i++) {
                pool.execute(
                        new Runnable() {
                            @Override
                            public void run() {
                                Causes.Work.busy(600_000);
                            }
                        });
            }
        }
    }

    /**
     * Each of its messages is short, though long enough to be kept by name, and the next one is ready at
     * once.
     */
    private abstract static class Ticker extends Handler {
        private final int ms;

        Ticker(int ms) {
            super(Looper.getMainLooper());
            this.ms = ms;
        }

        @Override
        public void handleMessage(Message message) {
            Causes.Work.busy(ms);
            sendEmptyMessage(0);
        }
    }

    static final class Prices extends Ticker {
        Prices() {
            super(100);
        }
    }

    static final class Badges extends Ticker {
        Badges() {
            super(80);
        }
    }

    static final class Banners extends Ticker {
        Banners() {
            super(60);
        }
    }
}
