package scenario;

import android.os.Build;
import android.os.Handler;
import android.os.Looper;
import android.os.Message;
import android.view.Choreographer;
import io.loopbox.Loopbox;
import java.lang.reflect.Method;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * What a main thread does on every level of the framework: many messages, an inner loop that ends by an
 * exception, a long queue, frames, and a leaked sync barrier. A report is requested at each step, and named
 * after it.
 */
public final class Levels {
    private static final int THREADS = 4;
    private static final int OF_EACH = 1_000;
    private static final int WAITING = 150;
    private static final int REMOVED = 20;
    private static final int FRAMES = 10;
    private static final int BEHIND = 5;
    private static final long LEAKED_MS = 3_200;

    private static final int ARRIVED = 1;
    private static final int NESTED = 2;
    private static final int INNER = 3;
    private static final int LEAVES = 4;
    private static final int QUEUED = 5;
    private static final int REMOVED_FIRST = 900;
    private static final int WAITS = 1_000;

    private final Shop shop = new Shop();
    private final AtomicInteger arrived = new AtomicInteger();
    private int frames;

    public static void main(String[] arguments) {
        Looper.prepareMainLooper();
        Script.install(new Options(arguments));
        Script.awaitSampler();
        Levels levels = new Levels();
        levels.shop.post(levels::begin);
        Looper.loop();
    }

    private void begin() {
        Script.dump("begin");
        for (int thread = 0; thread < THREADS; thread++) {
            new Thread(() -> {
                for (int message = 0; message < OF_EACH; message++) {
                    shop.sendEmptyMessage(ARRIVED);
                }
            }, "poster-" + thread).start();
        }
    }

    /**
     * The Handler of the scenario. It is a class with a name, because a hook names a message by its target's
     * class.
     */
    private final class Shop extends Handler {
        Shop() {
            super(Looper.getMainLooper());
        }

        @Override
        public void handleMessage(Message message) {
            switch (message.what) {
                case ARRIVED -> {
                    if (arrived.incrementAndGet() == THREADS * OF_EACH) {
                        sendEmptyMessage(NESTED);
                    }
                }
                case NESTED -> nested();
                case LEAVES -> throw new IllegalStateException("leaves the loop");
                case QUEUED -> queued();
                case WAITS + WAITING - 1 -> Choreographer.getInstance().postFrameCallback(Levels.this::frame);
                default -> {}
            }
        }
    }

    private void nested() {
        shop.sendEmptyMessage(INNER);
        shop.sendEmptyMessage(LEAVES);
        try {
            Looper.loop();
        } catch (IllegalStateException left) {
            Script.say("left " + left.getMessage());
        }
        // A posted message between, so that the one that was left is over.
        shop.post(() -> {
            Script.dump("counted");
            shop.sendEmptyMessage(QUEUED);
        });
    }

    /** The queue while main is in a message; removed messages do not count. */
    private void queued() {
        for (int what = 0; what < REMOVED; what++) {
            shop.sendEmptyMessage(REMOVED_FIRST + what);
        }
        for (int what = 0; what < WAITING; what++) {
            shop.sendEmptyMessage(WAITS + what);
        }
        for (int what = 0; what < REMOVED; what++) {
            shop.removeMessages(REMOVED_FIRST + what);
        }
        // Long enough for stacks.
        Work.busy(300);
        Script.dump("queued");
    }

    private void frame(long timeNanos) {
        frames++;
        if (frames < FRAMES) {
            Choreographer.getInstance().postFrameCallback(this::frame);
            return;
        }
        Script.say("frames " + frames);
        new Thread(this::leak, "leak").start();
    }

    private static Object postBarrier() throws ReflectiveOperationException {
        Looper looper = Looper.getMainLooper();
        // A Looper's own on API 21 and 22.
        Object poster = Build.VERSION.SDK_INT < 23 ? looper : looper.getQueue();
        Method post = poster.getClass().getDeclaredMethod("postSyncBarrier");
        post.setAccessible(true);
        return post.invoke(poster);
    }

    /** Leaves a barrier that nobody removes, with messages behind it. */
    private void leak() {
        try {
            Script.say("barrier " + postBarrier());
            for (int message = 0; message < BEHIND; message++) {
                shop.sendEmptyMessage(INNER);
            }
            Thread.sleep(LEAKED_MS);
            Script.dump("barrier");
            Loopbox.uninstall();
        } catch (ReflectiveOperationException | InterruptedException fault) {
            throw new AssertionError(fault);
        }
        Runtime.getRuntime().halt(0);
    }
}
