package scenario;

import android.os.Handler;
import android.os.Looper;
import android.os.Message;
import android.os.MessageQueue;
import android.os.Process;
import android.os.SystemClock;
import java.io.File;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Main sleeps although ordinary messages are due, or seems to do so. {@code mode=}
 *
 * <ul>
 *   <li>leaked: a message leaves a sync barrier, and messages are posted behind it
 *   <li>early: a message leaves a barrier, and messages are posted behind it once main has slept for long
 *   <li>asleep: another thread leaves a barrier while main sleeps; an asynchronous message comes once the
 *   gate is open
 *   <li>animated: as leaked, and an asynchronous message comes every 16 ms, as in an animation
 *   <li>frames: each barrier is there for 200 ms, then an asynchronous message removes it
 *   <li>unwoken: a message is due, and nothing has woken main for it
 *   <li>idle: no message in the queue is due yet
 * </ul>
 *
 * {@code left=say}: prints a line when the barrier has been there for long. {@code cleared=on}: once the gate
 * is open the barrier is removed, and another one is left. The gate is the file {@code gate=}. The process is
 * ended from outside.
 */
public final class Barriers {
    private static final int BEHIND = 20;
    private static final int LONG_MS = 3_000;
    private static final int BARRIER_MS = 200;
    private static final int FRAMES = 15;
    private static final int FRAME_MS = 16;
    private static final int WINDOW_MS = 6_000;

    private final Options options;
    private final Looper looper = Looper.getMainLooper();
    private final MessageQueue queue = looper.getQueue();
    private final Handler handler = new Handler(looper);
    private final AtomicInteger handled = new AtomicInteger();
    private volatile int barrier;

    private Barriers(Options options) {
        this.options = options;
    }

    /** Runs the scenario until the process is ended. */
    public static void main(String[] arguments) throws Exception {
        Looper.prepareMainLooper();
        Options options = new Options(arguments);
        Script.install(options);
        Script.awaitSampler();
        new Barriers(options).begin(options.text("mode", "leaked"));
        Looper.loop();
    }

    private void begin(final String mode) {
        if ("frames".equals(mode)) {
            frame(1);
        } else if ("unwoken".equals(mode)) {
            start(unwoken());
        } else if ("idle".equals(mode)) {
            handler.sendEmptyMessageDelayed(1, 3_600_000);
            start(rest());
        } else if ("asleep".equals(mode)) {
            start(
                    new Step() {
                        @Override
                        void step() throws Exception {
                            SystemClock.sleep(LONG_MS);
                            leak();
                            postBehind();
                            Script.say("leaked");
                            awaitGate();
                            asynchronous(
                                    new Runnable() {
                                        @Override
                                        public void run() {}
                                    },
                                    0);
                        }
                    });
        } else {
            handler.post(
                    new Step() {
                        @Override
                        void step() throws Exception {
                            leak();
                            if ("animated".equals(mode)) {
                                animate();
                            }
                            if (!"early".equals(mode)) {
                                postBehind();
                            }
                        }
                    });
            start(
                    new Step() {
                        @Override
                        void step() throws Exception {
                            if ("early".equals(mode)) {
                                SystemClock.sleep(LONG_MS);
                                postBehind();
                            }
                            if (options.is("left", "say")) {
                                SystemClock.sleep(2 * LONG_MS);
                                Script.say("left for long");
                            }
                            if (options.is("cleared", "on")) {
                                awaitGate();
                                clear(barrier);
                                handler.post(
                                        new Step() {
                                            @Override
                                            void step() throws Exception {
                                                Script.say("cleared");
                                                leak();
                                                postBehind();
                                            }
                                        });
                            }
                        }
                    });
        }
    }

    private void awaitGate() {
        File gate = new File(options.text("gate", ""));
        while (!gate.exists()) {
            SystemClock.sleep(5);
        }
    }

    private static void start(Runnable what) {
        new Thread(what, "other").start();
    }

    private void leak() throws ReflectiveOperationException {
        Method post = MessageQueue.class.getDeclaredMethod("postSyncBarrier");
        post.setAccessible(true);
        barrier = (Integer) post.invoke(queue);
    }

    private void clear(int token) throws ReflectiveOperationException {
        Method remove = MessageQueue.class.getDeclaredMethod("removeSyncBarrier", int.class);
        remove.setAccessible(true);
        remove.invoke(queue, token);
    }

    private void postBehind() {
        for (int what = 0; what < BEHIND; what++) {
            handler.sendEmptyMessage(what);
        }
    }

    private void asynchronous(Runnable what, int delayMs) {
        Message message = Message.obtain(handler, what);
        message.setAsynchronous(true);
        handler.sendMessageDelayed(message, delayMs);
    }

    private void animate() {
        asynchronous(
                new Runnable() {
                    @Override
                    public void run() {
                        animate();
                    }
                },
                FRAME_MS);
    }

    /** Frames one after the other, each with a barrier that holds back the rest for a while. */
    private void frame(final int nth) {
        handler.post(
                new Step() {
                    @Override
                    void step() throws Exception {
                        leak();
                        final int token = barrier;
                        handler.sendEmptyMessage(nth);
                        asynchronous(
                                new Step() {
                                    @Override
                                    void step() throws Exception {
                                        clear(token);
                                        if (nth < FRAMES) {
                                            frame(nth + 1);
                                        } else {
                                            Script.say("frames are over");
                                        }
                                    }
                                },
                                BARRIER_MS);
                    }
                });
    }

    /**
     * Main sleeps until a message that is due in an hour. Then the message gets an earlier time, and main is
     * not woken. If main takes the message nevertheless, this is repeated with another message.
     */
    private Step unwoken() {
        final Handler counting =
                new Handler(looper) {
                    @Override
                    public void handleMessage(Message message) {
                        handled.incrementAndGet();
                    }
                };
        return new Step() {
            @Override
            void step() throws Exception {
                Field when = Message.class.getDeclaredField("when");
                when.setAccessible(true);
                while (true) {
                    int before = handled.get();
                    final Message message = Message.obtain(counting, 1);
                    // In a message, after which main goes to rest.
                    handler.post(
                            new Runnable() {
                                @Override
                                public void run() {
                                    counting.sendMessageDelayed(message, 3_600_000);
                                }
                            });
                    SystemClock.sleep(150);
                    when.setLong(message, SystemClock.uptimeMillis() - 1_000);
                    for (int i = 0; i < 300 && handled.get() == before; i++) {
                        SystemClock.sleep(20);
                    }
                    if (handled.get() == before) {
                        return;
                    }
                }
            }
        };
    }

    /**
     * Prints, again and again, whether main or a thread of the recorder was woken in the last {@code
     * WINDOW_MS}.
     */
    private Step rest() {
        return new Step() {
            @Override
            void step() throws Exception {
                while (true) {
                    Map<String, Long> before = wakes();
                    SystemClock.sleep(WINDOW_MS);
                    Map<String, Long> after = wakes();
                    Script.say((before.equals(after) ? "rested " : "woken ") + before + " " + after);
                }
            }
        };
    }

    /** The number of voluntary context switches of main and of each thread of the recorder. */
    private static Map<String, Long> wakes() {
        Map<String, Long> wakes = Wakes.wakes();
        wakes.put("main", Wakes.of(new File("/proc/self/task/" + Process.myPid())));
        return wakes;
    }
}
