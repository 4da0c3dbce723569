package scenario;

import android.os.Handler;
import android.os.HandlerThread;
import android.os.Looper;
import android.os.Message;
import android.os.MessageQueue;
import android.os.SystemClock;
import com.example.shop.ShopHandler;
import com.othersdk.Stats;
import io.loopbox.Loopbox;
import java.io.FileDescriptor;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Messages of all kinds, which an Observer of another library counts. They are posted from several threads,
 * some delayed, at the front, or asynchronous behind a barrier; some are removed. Inner loops run inside of
 * messages, of idle handlers and of descriptors' callbacks, and end by exceptions. There are also wake-ups
 * without a cause, and other Loopers that quit. At the end the app prints how many messages began, and asks
 * for a report inside of the last one.
 *
 * <p>Arguments: those of {@link Options}; {@code messages=}: how many at least; {@code calm=1}: the queue is
 * often empty; {@code shopMs=}: instead of all that, one message that takes this long; {@code outsideMs=}:
 * instead of all that, a descriptor's callback and an idle handler that take this long.
 */
public final class Polls extends Handler {
    private static final int PLAIN = 1;
    private static final int LEAVES_BY_EXCEPTION = 2;
    private static final int LEAVES_BY_ERROR = 3;
    private static final int OUTSIDE = 4;
    private static final int OTHER = 5;
    private static final int MOST_LOOPS = 3;
    private static final int ENOUGH_WAITING = 300;

    private static final class Stop extends RuntimeException {}

    private static final class StopByError extends Error {}

    private final Random random = new Random(7);
    private final AtomicInteger waiting = new AtomicInteger();
    private final Options options;
    private final boolean calm;
    private final int wanted;
    private final MessageQueue queue = Looper.myQueue();
    private final Method postBarrier = queueMethod("postSyncBarrier");
    private final Method removeBarrier = queueMethod("removeSyncBarrier", int.class);
    private Stats stats;
    private int handled;
    private int loops;
    private int nested;
    private int idleRuns;
    private int descriptorCalls;
    private volatile boolean over;

    private Polls(Options options) {
        super(Looper.getMainLooper());
        this.options = options;
        calm = options.number("calm", 0) != 0;
        wanted = options.number("messages", 20_000);
    }

    /** Runs the scenario and ends the process. */
    public static void main(String[] arguments) throws Exception {
        Looper.prepareMainLooper();
        new Polls(new Options(arguments)).play();
    }

    private void play() throws Exception {
        stats = Stats.install();
        Script.install(options);
        if (options.number("shopMs", 0) > 0) {
            playShop();
        }
        if (options.number("outsideMs", 0) > 0) {
            playOutside(options.number("outsideMs", 0));
        }
        queue.addIdleHandler(
                new MessageQueue.IdleHandler() {
                    @Override
                    public boolean queueIdle() {
                        idleRuns++;
                        if (idleRuns % 41 == 0) {
                            runLoop(LEAVES_BY_EXCEPTION);
                        } else if (idleRuns % 50 == 0) {
                            sendEmptyMessage(PLAIN);
                        }
                        return true;
                    }
                });
        watchDescriptor();
        startOthers();
        for (int i = 0; i < 200; i++) {
            sendEmptyMessage(PLAIN);
        }
        while (true) {
            try {
                Looper.loop();
            } catch (Stop left) {
                // On with it.
            } catch (StopByError left) {
                // On with it.
            }
        }
    }

    /** Runs only one long message. */
    private void playShop() {
        Script.awaitSampler();
        new ShopHandler(getLooper()).send(1, options.number("shopMs", 0));
        post(
                new Runnable() {
                    @Override
                    public void run() {
                        end();
                    }
                });
        Looper.loop();
    }

    /**
     * A poll that does not wait calls a descriptor's callback. Then the queue is empty and its idle handler
     * runs, and at last main rests.
     */
    private void playOutside(final int ms) throws Exception {
        final FileDescriptor[] pipe = (FileDescriptor[]) Class.forName("android.system.Os").getMethod("pipe").invoke(null);
        queue.addOnFileDescriptorEventListener(
                pipe[0],
                MessageQueue.OnFileDescriptorEventListener.EVENT_INPUT,
                new MessageQueue.OnFileDescriptorEventListener() {
                    @Override
                    public int onFileDescriptorEvents(FileDescriptor descriptor, int events) {
                        SystemClock.sleep(ms);
                        return 0;
                    }
                });
        post(
                new Step() {
                    @Override
                    void step() throws Exception {
                        Class<?> os = Class.forName("android.system.Os");
                        os.getMethod("write", FileDescriptor.class, byte[].class, int.class, int.class)
                                .invoke(null, pipe[1], new byte[1], 0, 1);
                        sendEmptyMessage(OTHER);
                    }
                });
        Looper.loop();
    }

    /**
     * Adds an idle handler that takes {@code ms} milliseconds, and posts the end of the scenario. Called when
     * the descriptor's callback has returned.
     */
    private void runIdleHandler(final int ms) {
        queue.addIdleHandler(
                new MessageQueue.IdleHandler() {
                    @Override
                    public boolean queueIdle() {
                        SystemClock.sleep(ms);
                        return false;
                    }
                });
        // It rests for longer than a group.
        postDelayed(
                new Runnable() {
                    @Override
                    public void run() {
                        end();
                    }
                },
                2L * ms);
    }

    @Override
    public void handleMessage(Message message) {
        if (message.what == OTHER) {
            runIdleHandler(options.number("outsideMs", 0));
            return;
        }
        handled++;
        if (message.what == OUTSIDE) {
            waiting.decrementAndGet();
        } else if (message.what == LEAVES_BY_EXCEPTION) {
            throw new Stop();
        } else if (message.what == LEAVES_BY_ERROR) {
            throw new StopByError();
        }
        if (handled >= wanted && loops == 0) {
            end();
        }
        int dice = random.nextInt(4_000);
        if (dice < 12) {
            runLoop(dice % 3 == 0 ? LEAVES_BY_ERROR : LEAVES_BY_EXCEPTION);
        } else if (dice < 40) {
            SystemClock.sleep(1);
        } else if (dice < 44) {
            behindBarrier();
        } else if (dice < 60) {
            sendMessageAtFrontOfQueue(Message.obtain(this, PLAIN));
        } else if (dice < 80) {
            sendEmptyMessageDelayed(PLAIN, 5);
            removeMessages(PLAIN);
        }
        if (!calm || dice % 3 == 0) {
            sendEmptyMessage(PLAIN);
        }
    }

    /**
     * Runs a loop inside of whatever runs. A message with {@code leaves} as its {@code what} leaves the loop.
     */
    private void runLoop(int leaves) {
        if (loops == MOST_LOOPS || over) {
            return;
        }
        nested++;
        loops++;
        sendMessageDelayed(Message.obtain(this, leaves), 2);
        try {
            Looper.loop();
        } catch (Stop left) {
            // On with it.
        } catch (StopByError left) {
            // On with it.
        } finally {
            loops--;
        }
    }

    private void behindBarrier() {
        try {
            final Object token = postBarrier.invoke(queue);
            Message message =
                    Message.obtain(
                            this,
                            new Step() {
                                @Override
                                void step() throws Exception {
                                    removeBarrier.invoke(queue, token);
                                    sendEmptyMessage(PLAIN);
                                }
                            });
            message.setAsynchronous(true);
            sendMessageDelayed(message, 2);
        } catch (ReflectiveOperationException refused) {
            throw new AssertionError(refused);
        }
    }

    /** The last message that is counted: it does not return. */
    private void end() {
        over = true;
        Script.say("nested " + nested + " idle " + idleRuns + " descriptors " + descriptorCalls);
        Script.say("begun " + stats.starts);
        Script.dump("at the end");
        Loopbox.uninstall();
        Runtime.getRuntime().halt(0);
    }

    private void startOthers() throws Exception {
        HandlerThread other = new HandlerThread("other");
        other.start();
        new Handler(other.getLooper())
                .post(
                        new Runnable() {
                            @Override
                            public void run() {
                                new Handler(Looper.myLooper()).post(this);
                            }
                        });
        start(
                new Step() {
                    @Override
                    void step() {
                        HandlerThread quits = new HandlerThread("quits");
                        quits.start();
                        new Handler(quits.getLooper()).sendEmptyMessage(PLAIN);
                        SystemClock.sleep(3);
                        quits.quit();
                    }
                });
        for (int poster = 0; poster < 2; poster++) {
            start(
                    new Step() {
                        @Override
                        void step() {
                            if (waiting.get() < ENOUGH_WAITING) {
                                waiting.incrementAndGet();
                                sendEmptyMessageDelayed(OUTSIDE, waiting.get() % 4);
                            }
                            if (calm || waiting.get() % 40 == 0) {
                                SystemClock.sleep(2);
                            }
                        }
                    });
        }
        final Method wake = queueMethod("nativeWake", long.class);
        Field pointer = MessageQueue.class.getDeclaredField("mPtr");
        pointer.setAccessible(true);
        final Object of = pointer.get(queue);
        start(
                new Step() {
                    @Override
                    void step() throws Exception {
                        wake.invoke(queue, of);
                        SystemClock.sleep(1);
                    }
                });
    }

    /** Runs a step repeatedly, on a separate thread. */
    private void start(final Step step) {
        Thread thread =
                new Thread("other") {
                    @Override
                    public void run() {
                        while (!over) {
                            step.run();
                        }
                    }
                };
        thread.setDaemon(true);
        thread.start();
    }

    private void watchDescriptor() throws Exception {
        final Class<?> os = Class.forName("android.system.Os");
        final FileDescriptor[] pipe = (FileDescriptor[]) os.getMethod("pipe").invoke(null);
        final Method read = os.getMethod("read", FileDescriptor.class, byte[].class, int.class, int.class);
        final Method write = os.getMethod("write", FileDescriptor.class, byte[].class, int.class, int.class);
        final byte[] one = new byte[1];
        queue.addOnFileDescriptorEventListener(
                pipe[0],
                MessageQueue.OnFileDescriptorEventListener.EVENT_INPUT,
                new MessageQueue.OnFileDescriptorEventListener() {
                    @Override
                    public int onFileDescriptorEvents(FileDescriptor descriptor, int events) {
                        descriptorCalls++;
                        try {
                            read.invoke(null, descriptor, one, 0, 1);
                        } catch (ReflectiveOperationException failed) {
                            throw new AssertionError(failed);
                        }
                        if (descriptorCalls % 97 == 0) {
                            runLoop(LEAVES_BY_EXCEPTION);
                        } else if (descriptorCalls % 131 == 0) {
                            throw new Stop();
                        }
                        return EVENT_INPUT;
                    }
                });
        start(
                new Step() {
                    @Override
                    void step() throws Exception {
                        write.invoke(null, pipe[1], new byte[1], 0, 1);
                        SystemClock.sleep(2);
                    }
                });
    }

    private static Method queueMethod(String name, Class<?>... parameters) {
        try {
            Method method = MessageQueue.class.getDeclaredMethod(name, parameters);
            method.setAccessible(true);
            return method;
        } catch (NoSuchMethodException absent) {
            throw new AssertionError(absent);
        }
    }
}
