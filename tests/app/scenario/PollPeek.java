package scenario;

import android.os.Handler;
import android.os.Looper;
import android.os.Message;
import android.os.MessageQueue;
import android.os.SystemClock;
import com.example.shop.ShopHandler;
import com.othersdk.Names;
import io.loopbox.Loopbox;
import java.lang.reflect.Method;
import java.util.concurrent.locks.LockSupport;

/**
 * Messages that take two milliseconds each, so that the history keeps them by name. They are messages of
 * several handlers, and Runnables. Some are delayed, some are posted at the front, and some wait behind a
 * barrier. Between some of them an idle handler runs. At the end the app prints what each message was, as
 * another library's observer saw it, and asks for a report inside of the last one.
 *
 * <p>Arguments: those of {@link Options}; {@code messages=}: how many; {@code racing=1}: other threads post
 * and remove messages all the time; {@code shopMs=}: instead of all that, one message that takes this long,
 * and one of a Handler that inherits its handleMessage; {@code truth=no}: without the other library; {@code
 * barriers=no}: without barriers, which API 21 posts another way.
 */
public final class PollPeek extends Handler {
    private static final int END = 99;
    private static final int REMOVED = 98;
    private static final int RACED = 97;
    private static final int BEHIND = 96;

    private final Options options;
    private final int wanted;
    private final boolean races;
    private final Odd odd = new Odd();
    private final MessageQueue queue = Looper.myQueue();
    private Names names;
    private int handled;
    private volatile boolean over;

    private PollPeek(Options options) {
        super(Looper.getMainLooper());
        this.options = options;
        wanted = options.number("messages", 300);
        races = options.number("racing", 0) != 0;
    }

    /** A target of another class. */
    private final class Odd extends Handler {
        Odd() {
            super(Looper.getMainLooper());
        }

        @Override
        public void handleMessage(Message message) {
            work();
        }
    }

    /** A Handler whose superclass handles its messages. */
    private static final class Heir extends ShopHandler {
        Heir() {
            super(Looper.getMainLooper());
        }
    }

    /** A callback. */
    private final class Work implements Runnable {
        @Override
        public void run() {
            work();
        }
    }

    /** Runs the scenario and ends the process. */
    public static void main(String[] arguments) throws Exception {
        Looper.prepareMainLooper();
        new PollPeek(new Options(arguments)).run();
    }

    private void run() throws Exception {
        if (!options.is("truth", "no")) {
            names = Names.install(100_000);
        }
        Script.install(options);
        Script.awaitSampler();
        if (options.number("shopMs", 0) > 0) {
            new ShopHandler(getLooper()).send(7, options.number("shopMs", 0));
            new Heir().send(8, options.number("shopMs", 0));
            sendEmptyMessage(END);
        } else {
            queue.addIdleHandler(
                    new MessageQueue.IdleHandler() {
                        @Override
                        public boolean queueIdle() {
                            SystemClock.sleep(3);
                            return true;
                        }
                    });
            if (races) {
                race();
                race();
            }
            work();
        }
        Looper.loop();
    }

    @Override
    public void handleMessage(Message message) {
        if (message.what == END) {
            end();
        } else if (message.what != REMOVED && message.what != RACED) {
            work();
        }
    }

    /** Handles a message of some length, and posts the next ones. */
    private void work() {
        SystemClock.sleep(2);
        handled++;
        if (handled >= wanted) {
            over = true;
            sendMessageAtFrontOfQueue(Message.obtain(this, END));
            return;
        }
        switch (handled % 7) {
            case 0:
                odd.sendEmptyMessage(handled % 5);
                break;
            case 1:
                post(new Work());
                break;
            case 2:
                odd.sendEmptyMessageDelayed(11, 4);
                break;
            case 3:
                if (!options.is("barriers", "no")) {
                    behindBarrier();
                } else {
                    sendEmptyMessage(14);
                }
                break;
            case 4:
                sendMessageAtFrontOfQueue(Message.obtain(this, 12));
                break;
            case 5:
                sendEmptyMessage(REMOVED);
                removeMessages(REMOVED);
                odd.post(new Work());
                break;
            default:
                sendEmptyMessage(-13);
        }
    }

    private void behindBarrier() {
        try {
            final Object token = queueMethod("postSyncBarrier").invoke(queue);
            // They wait, and the first one of them is not the next one.
            odd.sendEmptyMessage(14);
            Message message =
                    Message.obtain(
                            this,
                            new Step() {
                                @Override
                                void step() throws Exception {
                                    SystemClock.sleep(2);
                                    queueMethod("removeSyncBarrier", int.class).invoke(queue, token);
                                }
                            });
            message.setAsynchronous(true);
            message.what = BEHIND;
            sendMessage(message);
        } catch (ReflectiveOperationException refused) {
            throw new AssertionError(refused);
        }
    }

    private static Method queueMethod(String name, Class<?>... parameters) throws NoSuchMethodException {
        Method method = MessageQueue.class.getDeclaredMethod(name, parameters);
        method.setAccessible(true);
        return method;
    }

    /** Another thread posts in front of all messages, and removes that message, again and again. */
    private void race() {
        final Handler racing = new Handler(Looper.getMainLooper());
        Thread thread =
                new Thread("racing") {
                    @Override
                    public void run() {
                        while (!over) {
                            sendMessageAtFrontOfQueue(Message.obtain(PollPeek.this, RACED));
                            LockSupport.parkNanos(20_000);
                            removeMessages(RACED);
                            racing.sendEmptyMessageDelayed(5, 1);
                            LockSupport.parkNanos(20_000);
                        }
                    }
                };
        thread.setDaemon(true);
        thread.start();
    }

    private void end() {
        for (int number = 1; names != null && number < names.starts(); number++) {
            Script.say("truth " + number + " " + names.name(number));
        }
        Script.dump("at the end");
        Loopbox.uninstall();
        Runtime.getRuntime().halt(0);
    }
}
