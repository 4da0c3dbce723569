// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal.platform;

import java.util.ArrayDeque;

/**
 * The thread that calls one listener of the app. The listener may take as long as it likes: no other listener
 * waits for it.
 */
public final class ListenerThread extends Thread {
    /**
     * How many reports may wait: as many as a directory keeps. When there are more, the oldest are left out.
     */
    private static final int MOST_WAITING = 16;

    private final ArrayDeque<Runnable> waiting = new ArrayDeque<Runnable>(MOST_WAITING + 1);
    private final int mostWaiting;
    private boolean ends;

    private ListenerThread(int mostWaiting) {
        super("loopbox-listener");
        this.mostWaiting = mostWaiting;
    }

    /** Begins a thread for a listener of reports. */
    public static ListenerThread begin() {
        return begin(MOST_WAITING);
    }

    /** Begins a thread that makes each call that it is given. Whoever gives it calls limits their number. */
    public static ListenerThread beginForAll() {
        return begin(Integer.MAX_VALUE);
    }

    private static ListenerThread begin(int mostWaiting) {
        ListenerThread thread = new ListenerThread(mostWaiting);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    /** Whether the calling thread calls a listener. */
    public static boolean isCurrent() {
        return Thread.currentThread() instanceof ListenerThread;
    }

    /** Adds a call of the listener. Any thread. */
    public synchronized void add(Runnable call) {
        if (waiting.size() == mostWaiting) {
            waiting.removeFirst();
        }
        waiting.addLast(call);
        notifyAll();
    }

    /** Ends the thread when the waiting calls are done. Any thread. */
    public synchronized void end() {
        ends = true;
        notifyAll();
    }

    @Override
    public void run() {
        for (Runnable call = next(); call != null; call = next()) {
            try {
                call.run();
            } catch (Throwable fault) {
                Faults.log(fault);
            }
            // What code of the app has left there would end the wait of the next call.
            Thread.interrupted();
        }
    }

    private synchronized Runnable next() {
        while (waiting.isEmpty() && !ends) {
            try {
                wait();
            } catch (InterruptedException ignored) {
                // By code of the app.
            }
        }
        return waiting.pollFirst();
    }
}
