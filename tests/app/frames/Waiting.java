package frames;

/** Code that waits. */
final class Waiting {
    private Waiting() {}

    /** A monitor that another thread takes again and again. */
    static final class Contended extends Phase {
        private final Object lock = new Object();
        private volatile boolean stop;

        @Override void run(long endNs) throws Exception {
            Thread rival = new Thread("rival") {
                @Override public void run() {
                    while (!stop) {
                        hold();
                    }
                }
            };
            rival.start();
            while (before(endNs)) {
                hold();
            }
            stop = true;
            rival.join();
        }

        private void hold() {
            synchronized (lock) {
                sink = spin(500);
            }
            Thread.yield();
        }
    }

    /** Timed waits on a monitor. */
    static final class Waits extends Phase {
        @Override synchronized void run(long endNs) throws Exception {
            while (before(endNs)) {
                wait(2);
                sink = spin(100);
            }
        }
    }

    /** Sleeps. */
    static final class Sleeps extends Phase {
        @Override void run(long endNs) throws Exception {
            while (before(endNs)) {
                Thread.sleep(1);
                sink = spin(100);
            }
        }
    }
}
