package bench;

import android.os.Handler;
import android.os.HandlerThread;
import android.os.Looper;
import android.os.Message;
import android.os.SystemClock;
import android.util.Printer;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The recorder that Qimao describes, for comparison with Loopbox: a proxy of the observer that recognises
 * callbacks by name, boxes a token per message, and keeps its groups as strings. It does not name a message's
 * transaction. By default it also leaves out two other things that Qimao does for each message: its Printer,
 * and the start and stop of its sampling thread.
 */
class ArticleRecorder implements HookBench.Variant, InvocationHandler {
    /** The recorder with the Printer, whose body Qimao does not show, and with the timer of TraceMonitor. */
    static final class Whole extends ArticleRecorder implements Printer {
        private HandlerThread thread;
        private Handler timer;

        private static final class Trace implements Runnable {
            final long token;

            Trace(long token) {
                this.token = token;
            }

            @Override public void run() {
                System.out.println("a stack of " + token);
            }
        }

        @Override public boolean install() {
            thread = new HandlerThread("Thread-TraceMonitor");
            thread.start();
            timer = new Handler(thread.getLooper());
            Looper.getMainLooper().setMessageLogging(this);
            return super.install();
        }

        @Override public void uninstall() throws Exception {
            super.uninstall();
            Looper.getMainLooper().setMessageLogging(null);
            thread.quit();
            thread.join();
        }

        @Override public void println(String line) {}

        @Override void startMsg(long token) {
            timer.postDelayed(new Trace(token), NAMED_MS);
        }

        @Override void endMsg() {
            timer.removeCallbacksAndMessages(null);
        }
    }


    private static final int RECORDS = 100;
    private static final long ALONE_MS = 300;
    private static final long NAMED_MS = 50;

    private final AtomicLong tokens = new AtomicLong(1);
    private final String[] records = new String[RECORDS];
    private final StringBuilder open = new StringBuilder();
    private int next;
    private long begunMs;
    private int count;
    private long workMs;

    @Override public boolean install() {
        try {
            Class<?> type = Class.forName("android.os.Looper$Observer");
            set(Proxy.newProxyInstance(HookBench.class.getClassLoader(), new Class<?>[] {type}, this));
            return true;
        } catch (ReflectiveOperationException refused) {
            return false;
        }
    }

    @Override public void uninstall() throws Exception {
        set(null);
    }

    private static void set(Object observer) throws ReflectiveOperationException {
        Field field = Looper.class.getDeclaredField("sObserver");
        field.setAccessible(true);
        field.set(null, observer);
    }

    @Override public Object invoke(Object proxy, Method method, Object[] args) {
        if (Looper.getMainLooper().isCurrentThread()) {
            if ("messageDispatchStarting".equals(method.getName())) {
                begunMs = SystemClock.uptimeMillis();
                long token = tokens.getAndIncrement();
                startMsg(token);
                return token;
            }
            if ("messageDispatched".equals(method.getName())) {
                endMsg();
                ended((Message) args[1], (Long) args[0]);
            }
        }
        return null;
    }

    void startMsg(long token) {}

    void endMsg() {}

    private void ended(Message message, long token) {
        long nowMs = SystemClock.uptimeMillis();
        long waitMs = begunMs - message.getWhen();
        long tookMs = nowMs - begunMs;
        if (tookMs >= ALONE_MS) {
            if (count > 0) {
                close();
            }
            keep(begunMs + ">>>" + token + message + "<" + tookMs + ">" + waitMs);
            return;
        }
        if (count == 0) {
            open.append(begunMs).append(">>>");
        }
        count++;
        if (tookMs > NAMED_MS) {
            open.append(message).append("<").append(tookMs).append(">").append(waitMs).append(";");
        }
        workMs += tookMs;
        if (workMs >= ALONE_MS) {
            close();
        }
    }

    private void close() {
        keep(open.append(count).append("+").append(workMs).toString());
        open.setLength(0);
        count = 0;
        workMs = 0;
    }

    private void keep(String record) {
        records[next] = record;
        next = (next + 1) % RECORDS;
    }
}
