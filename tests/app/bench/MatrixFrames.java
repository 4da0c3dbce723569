package bench;

import android.os.Looper;
import android.util.Printer;
import android.view.Choreographer;
import dalvik.system.VMDebug;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.HashSet;

/**
 * Matrix's way below Android 7, its UIThreadMonitor: a Printer calls it at both ends of each message, and in each frame it puts three
 * callbacks at the heads of the Choreographer's queues, by reflection. Its trace of methods is left out. The last stage is that of
 * insets since Android 10, as it is there.
 */
final class MatrixFrames extends FrameWays.Way implements Printer, Runnable {
    private static final int INPUT = 0;
    private static final int ANIMATION = 1;
    private static final int TRAVERSAL = 2;
    private static final int STAGES = 3;

    private static final int BEGUN = 1;
    private static final int ENDED = 2;
    private static final long NOT_ENDED = -100;

    /** Its FrameTracer, as far as it is called without listeners of its own. */
    private static final class Observer {
        private final HashSet<Object> listeners = new HashSet<Object>();
        private boolean begun;
        private double droppedSum;
        private long durationSum;

        void dispatchBegin(long beginNs, long cpuBeginMs, long token) {
            begun = true;
        }

        void doFrame(String scene, long startNs, long endNs, boolean isFrame, long intendedNs, long[] costs, long intervalNs) {
            long traceBegin = System.currentTimeMillis();
            long jitter = endNs - intendedNs;
            droppedSum += (int) (jitter / intervalNs);
            durationSum += Math.max(jitter, intervalNs);
            synchronized (listeners) {
                for (Object listener : listeners) {
                    throw new IllegalStateException(String.valueOf(listener));
                }
            }
            if (System.currentTimeMillis() - traceBegin > intervalNs) {
                throw new IllegalStateException("too slow");
            }
        }

        void dispatchEnd(long beginNs, long cpuBeginMs, long endNs, long cpuEndMs, long token, boolean isFrame) {
            begun = false;
        }
    }

    private final HashSet<Observer> observers = new HashSet<Observer>();
    private final HashSet<MatrixFrames> listeners = new HashSet<MatrixFrames>();
    private final long[] dispatch = new long[4];
    private final long[] cost = new long[STAGES];
    private int[] status = new int[STAGES];
    private boolean[] exists = new boolean[STAGES];

    private Object lock;
    private Object[] queues;
    private Method[] add;
    private Object receiver;
    private long intervalNs;

    private volatile boolean alive;
    private volatile long token;
    private boolean isFrame;
    private boolean isChecked;
    private boolean isValid;
    private boolean hasBegun;

    @Override boolean install() throws Exception {
        Choreographer choreographer = Choreographer.getInstance();
        lock = field(choreographer, "mLock", null);
        queues = (Object[]) field(choreographer, "mCallbackQueues", null);
        receiver = field(choreographer, "mDisplayEventReceiver", null);
        intervalNs = (Long) field(choreographer, "mFrameIntervalNanos", null);
        add = new Method[STAGES];
        for (int stage = 0; stage < STAGES; stage++) {
            Class<?> queue = queues[stage].getClass();
            add[stage] = queue.getDeclaredMethod("addCallbackLocked", long.class, Object.class, Object.class);
            add[stage].setAccessible(true);
        }
        observers.clear();
        observers.add(new Observer());
        listeners.add(this);
        hasBegun = false;
        Looper.getMainLooper().setMessageLogging(this);
        return true;
    }

    @Override void uninstall() {
        Looper.getMainLooper().setMessageLogging(null);
    }

    @Override void begin() {
        alive = true;
        exists = new boolean[STAGES];
        status = new int[STAGES];
        insert(INPUT, this);
    }

    @Override void end() {
        alive = false;
    }

    /** Looked up each time, as there. */
    private static Object field(Object instance, String name, Object otherwise) {
        try {
            Field field = instance.getClass().getDeclaredField(name);
            field.setAccessible(true);
            return field.get(instance);
        } catch (ReflectiveOperationException refused) {
            return otherwise;
        }
    }

    @Override public void println(String line) {
        if (!isChecked) {
            isValid = line.charAt(0) == '>' || line.charAt(0) == '<';
            isChecked = true;
        }
        if (isValid) {
            dispatch(line.charAt(0) == '>');
        }
    }

    private void dispatch(boolean begins) {
        synchronized (listeners) {
            for (MatrixFrames listener : listeners) {
                if (begins && listener.alive && !listener.hasBegun) {
                    listener.hasBegun = true;
                    listener.dispatchBegin();
                } else if (!begins && listener.hasBegun) {
                    listener.hasBegun = false;
                    listener.dispatchEnd();
                }
            }
        }
    }

    /** SystemClock.currentThreadTimeMillis, which the testbeds do not have. */
    private static long threadMs() {
        return VMDebug.threadCpuTimeNanos() / 1_000_000;
    }

    private void dispatchBegin() {
        token = dispatch[0] = System.nanoTime();
        dispatch[2] = threadMs();
        synchronized (observers) {
            for (Observer observer : observers) {
                if (!observer.begun) {
                    observer.dispatchBegin(dispatch[0], dispatch[2], token);
                }
            }
        }
    }

    private void dispatchEnd() {
        long startNs = token;
        long intendedNs = startNs;
        if (isFrame) {
            frameEnd();
            intendedNs = (Long) field(receiver, "mTimestampNanos", startNs);
        }
        long endNs = System.nanoTime();
        synchronized (observers) {
            for (Observer observer : observers) {
                if (observer.begun) {
                    observer.doFrame("screen", startNs, endNs, isFrame, intendedNs, cost, intervalNs);
                }
            }
        }
        dispatch[3] = threadMs();
        dispatch[1] = System.nanoTime();
        synchronized (observers) {
            for (Observer observer : observers) {
                if (observer.begun) {
                    observer.dispatchEnd(dispatch[0], dispatch[2], dispatch[1], dispatch[3], token, isFrame);
                }
            }
        }
        isFrame = false;
    }

    private synchronized void insert(int stage, Runnable callback) {
        if (exists[stage] || !alive && stage == INPUT) {
            return;
        }
        try {
            synchronized (lock) {
                add[stage].invoke(queues[stage], -1L, callback, null);
                exists[stage] = true;
            }
        } catch (ReflectiveOperationException refused) {
            throw new IllegalStateException(refused);
        }
    }

    /** The first callback of a frame. */
    @Override public void run() {
        isFrame = true;
        stageBegin(INPUT);
        insert(ANIMATION, new Runnable() {
            @Override public void run() {
                stageEnd(INPUT);
                stageBegin(ANIMATION);
            }
        });
        insert(TRAVERSAL, new Runnable() {
            @Override public void run() {
                stageEnd(ANIMATION);
                stageBegin(TRAVERSAL);
            }
        });
    }

    private void stageBegin(int stage) {
        status[stage] = BEGUN;
        cost[stage] = System.nanoTime();
    }

    private void stageEnd(int stage) {
        status[stage] = ENDED;
        cost[stage] = System.nanoTime() - cost[stage];
        synchronized (this) {
            exists[stage] = false;
        }
    }

    private void frameEnd() {
        stageEnd(TRAVERSAL);
        for (int stage = 0; stage < STAGES; stage++) {
            if (status[stage] != ENDED) {
                cost[stage] = NOT_ENDED;
            }
        }
        status = new int[STAGES];
        insert(INPUT, this);
    }
}
