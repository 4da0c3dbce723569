package causes;

import android.os.Handler;
import android.os.Looper;
import android.os.Message;
import java.lang.reflect.Method;

/**
 * Hangs whose time went into earlier messages, or into messages that come all the time, rather than into the
 * message that is running.
 */
final class Past {
    private Past() {}

    /** The scenario of this name; null for any other name. */
    static Runnable of(String what, Handler handler) {
        switch (what) {
            case "before-last":
                return new BeforeLast(handler);
            case "newer":
                return new Newer(handler);
            case "late-barrier":
                return new LateBarrier(handler);
            case "short-flood":
                return new ShortFlood();
            default:
                return null;
        }
    }

    /**
     * A message that sleeps for more than two seconds, then a message that computes for less than one second,
     * and then short messages.
     */
    private static final class BeforeLast implements Runnable {
        private final Handler handler;

        BeforeLast(Handler handler) {
            this.handler = handler;
        }

        @Override
        public void run() {
            handler.post(() -> {
                Tax.sum();
                handler.post(new Causes.Short(handler));
            });
            Upload.retry();
        }
    }

    /** An upload to a slow server. */
    static final class Upload {
        static void retry() {
            Causes.Work.sleep(2_300);
        }
    }

    /** Code that blocks main for a moment. */
    static final class Tax {
        static void sum() {
            Causes.Work.busy(600);
        }
    }

    /**
     * Two slow messages, one after the other, and then short ones. The newer message ended shortly before the
     * report.
     */
    private static final class Newer implements Runnable {
        private final Handler handler;

        Newer(Handler handler) {
            this.handler = handler;
        }

        @Override
        public void run() {
            handler.post(() -> {
                Sync.merge();
                handler.post(new Causes.Short(handler));
            });
            Import.read();
        }
    }

    /** The older of the two slow messages. */
    static final class Import {
        static void read() {
            Causes.Work.sleep(2_200);
        }
    }

    /** The newer of the two slow messages. */
    static final class Sync {
        static void merge() {
            Causes.Work.sleep(2_300);
        }
    }

    /** A slow message, and then a barrier that is never removed. */
    private static final class LateBarrier implements Runnable {
        private final Handler handler;

        LateBarrier(Handler handler) {
            this.handler = handler;
        }

        @Override
        public void run() {
            Causes.Work.busy(700);
            try {
                Method post = android.os.MessageQueue.class.getDeclaredMethod("postSyncBarrier");
                post.setAccessible(true);
                post.invoke(Looper.myQueue());
            } catch (ReflectiveOperationException e) {
                throw new IllegalStateException(e);
            }
            for (int i = 0; i < 5; i++) {
                handler.sendEmptyMessage(7);
            }
        }
    }

    /** Another thread sends many more short messages than main can process. */
    private static final class ShortFlood implements Runnable {
        @Override
        public void run() {
            Ticks ticks = new Ticks();
            new Thread("quotes") {
                @Override
                public void run() {
                    while (true) {
                        ticks.sendEmptyMessage(3);
                        Causes.Work.sleep(1);
                    }
                }
            }.start();
        }
    }

    /** Takes two milliseconds for each of its messages. */
    static final class Ticks extends Handler {
        Ticks() {
            super(Looper.getMainLooper());
        }

        @Override
        public void handleMessage(Message message) {
            Causes.Work.busy(3);
        }
    }
}
