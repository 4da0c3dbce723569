// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal.report;

import android.os.Debug;
import android.os.Looper;
import io.loopbox.internal.recording.Native;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.AbstractOwnableSynchronizer;
import java.util.concurrent.locks.LockSupport;

/**
 * What only Java knows at a dump: heap and collections, which locks of java.util.concurrent the main thread
 * is parked for, and which thread's end it waits for. All of it is public API. Nothing here waits for a
 * thread of the app, except for the moment in which one starts or ends and holds the lock of its group.
 */
final class RuntimeStatistics {
    /** The most threads in a chain of waiting threads that begins with main. */
    private static final int MOST_STEPS = 8;

    /** Room for threads that start while they are counted. */
    private static final int SPARE = 16;

    private static final String[] STATS = {"gc-count", "gc-time", "blocking-gc-count", "blocking-gc-time"};
    private static final String[] NAMES = {"count", "time_ms", "blocking_count", "blocking_time_ms"};

    private final List<String> statistics = new ArrayList<String>();
    private final boolean redacts;

    private RuntimeStatistics(boolean redacts) {
        this.redacts = redacts;
    }

    /** Reads the statistics: names and values in turn. */
    static String[] read(boolean redacts) {
        RuntimeStatistics read = new RuntimeStatistics(redacts);
        read.parked();
        read.heap();
        read.collections();
        read.joined();
        return read.statistics.toArray(new String[0]);
    }

    private void add(String name, Object value) {
        statistics.add(name);
        statistics.add(String.valueOf(value));
    }

    private void heap() {
        Runtime runtime = Runtime.getRuntime();
        long total = runtime.totalMemory();
        add("heap.used_bytes", total - runtime.freeMemory());
        add("heap.total_bytes", total);
        add("heap.max_bytes", runtime.maxMemory());
    }

    /**
     * Adds the statistics of the garbage collections since the process began. The native side adds those of
     * the collections since the hang was suspected (suspects_counts.rs).
     */
    private void collections() {
        try {
            for (int at = 0; at < STATS.length; at++) {
                add("gc." + NAMES[at], Long.parseLong(Debug.getRuntimeStat("art.gc." + STATS[at])));
            }
        } catch (LinkageError absent) {
            // It is there since API 23.
        } catch (NumberFormatException unknown) {
            // This runtime has no such statistic.
        }
    }

    private void parked() {
        List<Object> chain = new ArrayList<Object>();
        boolean returns = follow(chain);
        if (returns) {
            // The steps were taken one after the other. In a real deadlock nothing has changed.
            List<Object> again = new ArrayList<Object>();
            returns = follow(again) && isSame(again, chain);
        }
        for (int at = 0; at + 1 < chain.size(); at += 2) {
            String step = "parked." + (at / 2 + 1);
            add(step + ".for", chain.get(at).getClass().getName());
            add(step + ".owner", redacts ? "redacted" : ((Thread) chain.get(at + 1)).getName());
        }
        if (!chain.isEmpty()) {
            add("parked.deadlock", returns);
            add("parked.at_ns", System.nanoTime());
        }
    }

    /**
     * Finds the thread that main joins. No API reports that. But ART knows the object that main waits on, and
     * each thread has a separate object for its joiners to wait on.
     */
    private void joined() {
        Thread main = Looper.getMainLooper().getThread();
        Thread.State state = main.getState();
        boolean waits = state == Thread.State.WAITING || state == Thread.State.TIMED_WAITING;
        if (!waits || LockSupport.getBlocker(main) != null) {
            return;
        }
        ThreadGroup group = main.getThreadGroup();
        while (group.getParent() != null) {
            group = group.getParent();
        }
        Thread[] threads = new Thread[group.activeCount() + SPARE];
        group.enumerate(threads);
        long found = Native.joined(threads);
        if (found < 0) {
            return;
        }
        add("joined.name", redacts ? "redacted" : threads[(int) found].getName());
        add("joined.tid", found >>> Integer.SIZE);
        add("joined.at_ns", System.nanoTime());
    }

    /**
     * Collects the object that main is parked for, the thread that owns it, the object that this thread is
     * parked for, and so on. Returns whether the chain comes back to one of its threads, which is a deadlock.
     */
    private static boolean follow(List<Object> chain) {
        Thread thread = Looper.getMainLooper().getThread();
        List<Thread> waiters = new ArrayList<Thread>();
        while (waiters.size() < MOST_STEPS) {
            waiters.add(thread);
            Object synchronizer = LockSupport.getBlocker(thread);
            thread = owner(synchronizer);
            if (thread == null) {
                return false;
            }
            chain.add(synchronizer);
            chain.add(thread);
            for (Thread waiter : waiters) {
                if (waiter == thread) {
                    return true;
                }
            }
        }
        return false;
    }

    /** Whether two chains have the same objects. Compares without equals, which may be the app's code. */
    private static boolean isSame(List<Object> chain, List<Object> other) {
        boolean same = chain.size() == other.size();
        for (int at = 0; same && at < chain.size(); at++) {
            same = chain.get(at) == other.get(at);
        }
        return same;
    }

    /** The owner of a synchronizer; null for none, and where it cannot be known. */
    private static Thread owner(Object synchronizer) {
        if (!(synchronizer instanceof AbstractOwnableSynchronizer)) {
            return null;
        }
        try {
            // Protected, and so public API: no list of hidden members has it.
            Method owner = AbstractOwnableSynchronizer.class.getDeclaredMethod("getExclusiveOwnerThread");
            owner.setAccessible(true);
            return (Thread) owner.invoke(synchronizer);
        } catch (NoSuchMethodException refused) {
            return null;
        } catch (IllegalAccessException refused) {
            return null;
        } catch (InvocationTargetException refused) {
            return null;
        }
    }
}
