package causes;

import android.os.Handler;
import android.os.Looper;
import android.os.Message;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** Nothing of it is slow by itself: it is too much. */
final class Crowd {
    private Crowd() {}

    /** Null when it is none of these. */
    static Runnable of(String what) {
        switch (what) {
            case "pool":
                return new Runnable() {
                    @Override
                    public void run() {
                        Thumbnails.decodeAll();
                        Causes.Invoice.render();
                    }
                };
            case "kinds":
                return new Runnable() {
                    @Override
                    public void run() {
                        new Prices().sendEmptyMessage(0);
                        new Badges().sendEmptyMessage(0);
                        new Banners().sendEmptyMessage(0);
                    }
                };
            default:
                return null;
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

    /** Each of its messages is short, though long enough to be kept by name, and the next one is there at once. */
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
