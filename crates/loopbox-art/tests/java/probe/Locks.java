package probe;

import java.util.concurrent.CountDownLatch;

/** The main thread waits for locks that other threads hold. At last it is in a deadlock. */
public final class Locks {
    static final class Plain {}

    static final class Other {}

    static final Plain A = new Plain();
    static final Other B = new Other();

    static synchronized void waitForWhole() {}

    static synchronized void whole() throws InterruptedException {
        hold();
    }

    public static void main(String[] args) throws Exception {
        System.out.println("installed " + Probe.install());
        Probe.watchLocks(true);

        System.out.println("case entering");
        Thread holder = held(new Runnable() {
            @Override public void run() {
                synchronized (A) {
                    hold();
                }
            }
        });
        synchronized (A) {
            holder.join();
        }

        System.out.println("case class");
        holder = held(new Runnable() {
            @Override public void run() {
                try {
                    whole();
                } catch (InterruptedException e) {
                    System.out.println("interrupted");
                }
            }
        });
        waitForWhole();
        holder.join();

        System.out.println("case waiting");
        synchronized (B) {
            new Thread() {
                @Override public void run() {
                    hold();
                    synchronized (B) {
                        B.notifyAll();
                    }
                }
            }.start();
            B.wait();
        }

        System.out.println("stats " + Probe.stats());
        System.out.println("case deadlock");
        synchronized (A) {
            held(new Runnable() {
                @Override public void run() {
                    synchronized (B) {
                        hold();
                        synchronized (A) {
                            System.out.println("impossible");
                        }
                    }
                }
            });
            new Thread() {
                @Override public void run() {
                    hold();
                    hold();
                    System.out.println("done");
                    System.exit(0);
                }
            }.start();
            synchronized (B) {
                System.out.println("impossible");
            }
        }
    }

    private static CountDownLatch inside;

    /** Starts a thread and waits until it is in {@link #hold}. */
    static Thread held(Runnable body) throws InterruptedException {
        inside = new CountDownLatch(1);
        Thread thread = new Thread(body, "holder");
        thread.start();
        inside.await();
        return thread;
    }

    /** Returns when the watcher has seen main wait several times. */
    static void hold() {
        inside.countDown();
        long until = Probe.locksSeen() + 4;
        while (Probe.locksSeen() < until) {
            try {
                Thread.sleep(5);
            } catch (InterruptedException e) {
                return;
            }
        }
    }
}
