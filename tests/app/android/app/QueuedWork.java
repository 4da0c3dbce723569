package android.app;

import android.os.Handler;
import android.os.HandlerThread;
import android.os.Message;
import java.util.LinkedList;

/**
 * Unsaved changes of preferences, as in API 29. A separate thread saves them. A thread that cannot wait any
 * longer saves them itself.
 */
public final class QueuedWork {
    /** Held while the work is done. */
    private static final Object PROCESSING = new Object();

    private static final LinkedList<Runnable> WORK = new LinkedList<Runnable>();
    private static Handler handler;

    private QueuedWork() {}

    static void queue(Runnable work) {
        synchronized (WORK) {
            WORK.add(work);
            if (handler == null) {
                HandlerThread thread = new HandlerThread("queued-work-looper");
                thread.start();
                handler =
                        new Handler(thread.getLooper()) {
                            @Override
                            public void handleMessage(Message message) {
                                processPendingWork();
                            }
                        };
            }
            handler.sendEmptyMessage(1);
        }
    }

    /** Returns when all changes are saved. */
    public static void waitToFinish() {
        processPendingWork();
    }

    private static void processPendingWork() {
        synchronized (PROCESSING) {
            for (Runnable work = next(); work != null; work = next()) {
                work.run();
            }
        }
    }

    private static Runnable next() {
        synchronized (WORK) {
            return WORK.poll();
        }
    }
}
