package bench;

import android.os.Looper;
import android.os.Message;
import android.os.SystemClock;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The recorder that the article describes, as a measure of what Loopbox replaces: a proxy of the observer that tells
 * callbacks by name, boxes a token per message, and keeps its groups as strings. Its sampling thread is left out.
 */
final class ArticleRecorder implements HookBench.Variant, InvocationHandler {
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

    @Override public boolean install() throws Exception {
        if (android.os.Build.VERSION.SDK_INT != 29) {
            return false;
        }
        Class<?> type = Class.forName("android.os.Looper$Observer");
        set(Proxy.newProxyInstance(HookBench.class.getClassLoader(), new Class<?>[] {type}, this));
        return true;
    }

    @Override public void uninstall() throws Exception {
        set(null);
    }

    private static void set(Object observer) throws Exception {
        Field field = Looper.class.getDeclaredField("sObserver");
        field.setAccessible(true);
        field.set(null, observer);
    }

    @Override public Object invoke(Object proxy, Method method, Object[] args) {
        if (Looper.getMainLooper().isCurrentThread()) {
            if ("messageDispatchStarting".equals(method.getName())) {
                begunMs = SystemClock.uptimeMillis();
                return tokens.getAndIncrement();
            }
            if ("messageDispatched".equals(method.getName())) {
                ended((Message) args[1], (Long) args[0]);
            }
        }
        return null;
    }

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
