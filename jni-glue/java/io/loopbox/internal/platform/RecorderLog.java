// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal.platform;

import android.util.Log;
import io.loopbox.Logger;
import java.util.ArrayDeque;

/**
 * Logs the lines of the recorder's Java code, to the system's log or to the app's {@link Logger}. Nothing
 * here throws or waits. Any thread may call it, also while it holds a lock.
 */
public final class RecorderLog {
    private static volatile Destination destination;

    private RecorderLog() {}

    /** Sends lines to the app's logger from now on; with null, to the system's log. */
    public static void to(Logger logger) {
        Destination before = destination;
        if (before == null ? logger == null : before.logger == logger) {
            return;
        }
        destination = logger == null ? null : new Destination(logger);
        if (before != null) {
            before.end();
        }
    }

    public static void info(String line) {
        write(Log.INFO, line, null);
    }

    public static void warn(String line) {
        write(Log.WARN, line, null);
    }

    public static void warn(String line, Throwable why) {
        write(Log.WARN, line, why);
    }

    /** Logs something that should not happen and that the app must not notice. */
    static void fault(String line, Throwable fault) {
        write(Log.ERROR, line, fault);
    }

    private static void write(int priority, String line, Throwable why) {
        try {
            Destination to = destination;
            if (to == null || !to.add(new Line(priority, line, why))) {
                system(priority, line, why);
            }
        } catch (Throwable worse) {
            // There is no memory for a line; in an app's unit tests the platform's log throws, too.
        }
    }

    private static void system(int priority, String line, Throwable why) {
        if (priority == Log.ERROR) {
            Log.e(Tag.LOOPBOX, line, why);
        } else if (priority == Log.WARN) {
            Log.w(Tag.LOOPBOX, line, why);
        } else {
            Log.i(Tag.LOOPBOX, line, why);
        }
    }

    private static final class Line {
        final int priority;
        final String text;
        final Throwable why;

        Line(int priority, String text, Throwable why) {
            this.priority = priority;
            this.text = text;
            this.why = why;
        }
    }

    /** The app's logger with its thread, which starts at the first line. */
    private static final class Destination implements Runnable {
        private static final int MOST_WAITING = 64;

        final Logger logger;
        private final ArrayDeque<Line> waiting = new ArrayDeque<Line>();
        private Thread thread;
        private int leftOut;
        private boolean ended;

        Destination(Logger logger) {
            this.logger = logger;
        }

        /**
         * Adds a line to those that wait for the app's logger. Returns false when the line must go to the
         * system's log.
         */
        synchronized boolean add(Line line) {
            if (ended || Thread.currentThread() == thread) {
                return false;
            }
            if (thread == null) {
                try {
                    Thread begun = new Thread(this, "loopbox-log");
                    begun.setDaemon(true);
                    begun.start();
                    thread = begun;
                } catch (OutOfMemoryError full) {
                    return false;
                }
            }
            if (waiting.size() == MOST_WAITING) {
                leftOut++;
            } else {
                waiting.addLast(line);
                notifyAll();
            }
            return true;
        }

        /** Ends the thread when the waiting lines are written. */
        synchronized void end() {
            ended = true;
            notifyAll();
        }

        @Override
        public void run() {
            for (Line line = next(); line != null; line = next()) {
                try {
                    logger.log(line.priority, line.text, line.why);
                } catch (Throwable fault) {
                    write(Log.WARN, "the app's logger failed", fault);
                }
            }
        }

        private synchronized Line next() {
            if (waiting.isEmpty() && leftOut > 0) {
                int lines = leftOut;
                leftOut = 0;
                try {
                    return new Line(Log.WARN, lines + " lines are left out", null);
                } catch (OutOfMemoryError full) {
                    // An error that leaves this thread would end the app.
                }
            }
            while (waiting.isEmpty() && !ended) {
                try {
                    wait();
                } catch (InterruptedException ignored) {
                    // By code of the app.
                }
            }
            return waiting.pollFirst();
        }
    }
}
