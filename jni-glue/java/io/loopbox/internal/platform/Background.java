// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal.platform;

/** Threads that do one task and end. */
public final class Background {
    private Background() {}

    /** Runs {@code what} on a thread of this name, which does not keep the process alive. */
    public static Thread run(String name, final Runnable what) {
        Thread thread =
                new Thread(name) {
                    @Override
                    public void run() {
                        try {
                            what.run();
                        } catch (Throwable fault) {
                            // A thread that throws ends the app.
                            Faults.log(fault);
                        }
                    }
                };
        thread.setDaemon(true);
        thread.start();
        return thread;
    }
}
