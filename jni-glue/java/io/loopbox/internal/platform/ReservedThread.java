// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal.platform;

/**
 * A thread that runs what a report needs from Java, while its caller waits for a bounded time. It is started
 * at install and sleeps, because at a report there may be no memory for a thread. A call that never returns
 * costs this thread, and not one for each report.
 */
public final class ReservedThread implements Runnable {
    private final String name;
    private Runnable task;
    private boolean ended;

    private ReservedThread(String name) {
        this.name = name;
    }

    /** Starts such a thread; null when there is no memory for it. */
    public static ReservedThread start(String name) {
        ReservedThread reserved = new ReservedThread(name);
        try {
            Thread thread = new Thread(reserved, name);
            thread.setDaemon(true);
            thread.start();
            return reserved;
        } catch (OutOfMemoryError full) {
            return null;
        }
    }

    /** Ends the thread: at once when it runs nothing, else after its present run. */
    public synchronized void end() {
        ended = true;
        notifyAll();
    }

    /**
     * Runs {@code wanted} on the thread, and waits until the run has ended, but not longer than {@code ms}
     * milliseconds.
     *
     * @return null, or why the run has not ended
     */
    public synchronized String run(Runnable wanted, long ms) throws InterruptedException {
        if (ended) {
            return "the recorder was stopped";
        }
        if (task != null) {
            return name + " has not come back from an earlier report";
        }
        task = wanted;
        notifyAll();
        long untilNs = System.nanoTime() + ms * 1_000_000L;
        while (task == wanted) {
            long leftNs = untilNs - System.nanoTime();
            if (leftNs <= 0) {
                return "not complete within " + ms + " ms";
            }
            // One more, because a wait of 0 has no end.
            wait(leftNs / 1_000_000 + 1);
        }
        return null;
    }

    @Override
    public void run() {
        for (Runnable wanted = next(null); wanted != null; wanted = next(wanted)) {
            try {
                wanted.run();
            } catch (Throwable fault) {
                // Tasks catch what they can. This is for what a full heap does to that.
            }
        }
    }

    private synchronized Runnable next(Runnable done) {
        if (task == done) {
            task = null;
            notifyAll();
        }
        while (task == null && !ended) {
            try {
                wait();
            } catch (InterruptedException ignored) {
                // By code of the app.
            }
        }
        return task;
    }
}
