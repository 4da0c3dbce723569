// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal.recording;

import io.loopbox.internal.platform.Faults;
import io.loopbox.internal.platform.ListenerThread;
import java.io.File;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** The listeners of reports. Any thread. */
public final class Listeners {
    /**
     * How long a listener of the configuration waits for the added listeners. It is called after them,
     * because it may take the file away. A caller who has asked for a report waits just as long for all
     * listeners.
     */
    private static final long OTHERS_MS = 2_000;

    /**
     * The added listeners, in the order in which they were added. Guarded by the class's lock, under which no
     * code of the app runs.
     */
    private static final List<Recipient> ADDED = new ArrayList<Recipient>();

    private static final List<Recipient> CONFIGURED = new ArrayList<Recipient>();

    /**
     * The thread that calls back those who have asked for a report. At the start of a recording it also asks
     * the system how the process was started.
     */
    private static ListenerThread answers;

    /**
     * Reaches 0 when all listeners were notified of the last complete report. Callers who asked for that
     * report are answered after that.
     */
    private static CountDownLatch answered = new CountDownLatch(0);

    private static boolean records;

    private Listeners() {}

    /** A listener, and the thread that calls it while something is recorded. */
    private static final class Recipient {
        final ReportSink sink;
        private ListenerThread thread;

        Recipient(ReportSink sink) {
            this.sink = sink;
        }

        /** Returns whether the thread runs. There may be too little memory for one. */
        boolean begin() {
            try {
                if (thread == null) {
                    thread = ListenerThread.begin();
                }
                return true;
            } catch (Throwable noMemory) {
                Faults.log(noMemory);
                return false;
            }
        }

        void end() {
            if (thread != null) {
                thread.end();
                thread = null;
            }
        }
    }

    public static synchronized void add(ReportSink listener) {
        if (find(listener) < 0) {
            Recipient recipient = new Recipient(listener);
            if (records) {
                recipient.begin();
            }
            ADDED.add(recipient);
        }
    }

    public static synchronized void remove(ReportSink listener) {
        int at = find(listener);
        if (at >= 0) {
            ADDED.remove(at).end();
        }
    }

    private static int find(ReportSink listener) {
        for (int at = 0; at < ADDED.size(); at++) {
            if (ADDED.get(at).sink.equals(listener)) {
                return at;
            }
        }
        return -1;
    }

    private static synchronized boolean isThere(Recipient recipient) {
        return ADDED.contains(recipient) || CONFIGURED.contains(recipient);
    }

    /** Notes that a recording begins, and adds the listeners of its configuration. */
    public static synchronized void begin(List<ReportSink> configured) {
        end();
        records = true;
        if (configured != null) {
            for (ReportSink sink : configured) {
                CONFIGURED.add(new Recipient(sink));
            }
        }
    }

    /**
     * Starts the threads of the listeners. Not in {@link #begin}, where the main thread has no time for it,
     * but soon after it, because memory may be short later. Not on the main thread.
     */
    public static synchronized void beginThreads() {
        if (records) {
            for (Recipient recipient : all()) {
                recipient.begin();
            }
        }
    }

    /**
     * Ends the threads of all listeners, and removes the listeners of the configuration. A call that is in
     * progress may continue.
     */
    public static synchronized void end() {
        records = false;
        for (Recipient recipient : all()) {
            recipient.end();
        }
        CONFIGURED.clear();
        if (answers != null) {
            answers.end();
            answers = null;
        }
    }

    private static List<Recipient> all() {
        List<Recipient> all = new ArrayList<Recipient>(ADDED);
        all.addAll(CONFIGURED);
        return all;
    }

    /**
     * Notifies the listeners, each on its thread, that there is a report, or that it has more content. Waits
     * for no thread.
     *
     * @param first whether more content will follow; then only listeners that want first files are notified
     */
    public static synchronized void onReport(final File file, final boolean first, final Gate gate) {
        final CountDownLatch added = new CountDownLatch(ADDED.size());
        final CountDownLatch everybody = new CountDownLatch(all().size());
        if (!first) {
            Listeners.answered = everybody;
        }
        for (final Recipient recipient : all()) {
            final boolean isAdded = ADDED.contains(recipient);
            if (first && !recipient.sink.wantsFirst() || !recipient.begin()) {
                if (isAdded) {
                    added.countDown();
                }
                everybody.countDown();
                continue;
            }
            recipient.thread.add(
                    new Runnable() {
                        @Override
                        public void run() {
                            try {
                                if (!isAdded && !first) {
                                    await(added);
                                }
                                // One of the others may have stopped the recording, or taken this one out.
                                if (!gate.isClosed() && isThere(recipient)) {
                                    recipient.sink.onReport(file, first);
                                }
                            } finally {
                                if (isAdded) {
                                    added.countDown();
                                }
                                everybody.countDown();
                            }
                        }
                    });
        }
    }

    /**
     * Notifies the listeners that want warnings: the system warns of an ANR, and main is late. Does not wait.
     */
    public static synchronized void onWarning(final long[] warning, final Gate gate) {
        for (final Recipient recipient : all()) {
            if (recipient.sink.wantsWarnings() && recipient.begin()) {
                recipient.thread.add(
                        new Runnable() {
                            @Override
                            public void run() {
                                if (!gate.isClosed() && isThere(recipient)) {
                                    recipient.sink.onWarning((int) warning[0], (int) warning[1], warning[2], warning[3]);
                                }
                            }
                        });
            }
        }
    }

    private static void await(CountDownLatch others) {
        try {
            others.await(OTHERS_MS, TimeUnit.MILLISECONDS);
        } catch (InterruptedException ignored) {
            // By code of the app.
        }
    }

    /**
     * Calls back a caller who has asked for a report, on a thread for such answers. While nothing is
     * recorded, the thread is created for this call.
     */
    public static synchronized void answer(final Runnable answer) {
        final CountDownLatch before = answered;
        Runnable call =
                new Runnable() {
                    @Override
                    public void run() {
                        await(before);
                        answer.run();
                    }
                };
        if (answers == null) {
            // Each request is answered, and the native side bounds how many there are.
            answers = ListenerThread.beginForAll();
        }
        answers.add(call);
        if (!records) {
            answers.end();
            answers = null;
        }
    }
}
