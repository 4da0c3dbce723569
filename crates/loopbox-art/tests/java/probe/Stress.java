package probe;

import dalvik.system.PathClassLoader;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;

/**
 * Keeps the main thread busy in the ways that a sampler must survive. Each phase is one such way, and lasts
 * until main was sampled often enough. Meanwhile one thread collects garbage, one takes a lock that main
 * needs, one requests main's stack, and one starts threads that end at once.
 *
 * Arguments: samples per phase, sampling period in microseconds, class path of this app, 1 to print the
 * stacks, how often to go through all phases (once when absent).
 */
public final class Stress {
    static volatile boolean stop;
    static volatile Object sink;
    static final Object LOCK = new Object();

    public static void main(String[] args) throws Exception {
        long perPhase = Long.parseLong(args[0]);
        int periodUs = Integer.parseInt(args[1]);
        String classPath = args[2];
        boolean print = args[3].equals("1");
        System.out.println("installed " + Probe.install());
        Probe.start(periodUs);
        Probe.watchLocks(false);
        final Thread main = Thread.currentThread();
        daemon("collector", new Runnable() {
            @Override public void run() {
                while (!stop) {
                    System.gc();
                    nap(5);
                }
            }
        });
        daemon("contender", new Runnable() {
            @Override public void run() {
                while (!stop) {
                    synchronized (LOCK) {
                        nap(1);
                    }
                    nap(1);
                }
            }
        });
        daemon("asker", new Runnable() {
            @Override public void run() {
                while (!stop) {
                    sink = main.getStackTrace();
                    nap(7);
                }
            }
        });
        daemon("parent", new Runnable() {
            @Override public void run() {
                while (!stop) {
                    Thread child = new Thread() {
                        @Override public void run() {
                            sink = new byte[1000];
                        }
                    };
                    child.start();
                    try {
                        child.join();
                    } catch (InterruptedException e) {
                        return;
                    }
                    nap(2);
                }
            }
        });
        if (print) Probe.log(true);
        String[] phases = {"allocate", "throw", "contend", "wait", "sleep", "compute", "recurse", "load", "invoke"};
        int times = args.length > 4 ? Integer.parseInt(args[4]) : 1;
        for (int time = 0; time < times; time++) {
            for (String phase : phases) {
                long until = Probe.samples() + perPhase;
                long rounds = 0;
                while (Probe.samples() < until) {
                    run(phase, classPath);
                    rounds++;
                }
                System.out.println("phase " + phase + " rounds " + rounds);
            }
            System.out.println("memory " + Probe.samples() + " " + Probe.memory());
        }
        stop = true;
        Probe.stop();
        Probe.log(false);
        System.out.println("stats " + Probe.stats());
        System.out.println("done");
    }

    private static void run(String phase, String classPath) throws Exception {
        if (phase.equals("allocate")) allocate();
        else if (phase.equals("throw")) throwing();
        else if (phase.equals("contend")) contend();
        else if (phase.equals("wait")) waiting();
        else if (phase.equals("sleep")) nap(3);
        else if (phase.equals("compute")) sink = compute(24);
        else if (phase.equals("recurse")) recurse(300);
        else if (phase.equals("load")) load(classPath);
        else invoke();
    }

    static void allocate() {
        List<Object> kept = new ArrayList<Object>();
        HashMap<String, Object> map = new HashMap<String, Object>();
        for (int i = 0; i < 2000; i++) {
            kept.add(new byte[i % 512]);
            map.put("key" + i % 100, new Object[] {i, "value" + i});
            if (i % 100 == 0) kept.clear();
        }
        sink = map;
    }

    static void throwing() {
        for (int i = 0; i < 20; i++) {
            try {
                deepThrow(i * 5);
            } catch (IllegalStateException e) {
                sink = e.getStackTrace();
            }
            try {
                sink = ((Object) null).hashCode();
            } catch (NullPointerException e) {
                sink = e;
            }
        }
    }

    static void deepThrow(int n) {
        if (n == 0) throw new IllegalStateException("deep");
        deepThrow(n - 1);
    }

    static void contend() {
        for (int i = 0; i < 20; i++) {
            synchronized (LOCK) {
                sink = Integer.valueOf(i);
            }
        }
    }

    static void waiting() throws InterruptedException {
        Object own = new Object();
        synchronized (own) {
            own.wait(2);
        }
    }

    static int compute(int n) {
        return n < 2 ? n : compute(n - 1) + compute(n - 2);
    }

    static void recurse(int n) {
        if (n > 0) recurse(n - 1);
        else for (int i = 0; i < 20000; i++) sink = LOCK;
    }

    /**
     * Loads classes with a new class loader for each round: its classes, methods and dex file are freed when
     * it is collected.
     */
    static void load(String classPath) throws Exception {
        Class<?> dropped = new PathClassLoader(classPath, Object.class.getClassLoader()).loadClass("probe.Dropped");
        Runnable work = (Runnable) dropped.getDeclaredConstructor().newInstance();
        for (int i = 0; i < 3; i++) work.run();
    }

    static void invoke() throws Exception {
        for (int i = 0; i < 50; i++) {
            sink = Stress.class.getDeclaredMethod("compute", int.class).invoke(null, 8);
            sink = String.format("%d %s", i, "text");
        }
    }

    static void nap(int ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException e) {
            stop = true;
        }
    }

    private static void daemon(String name, Runnable body) {
        Thread thread = new Thread(body, name);
        thread.setDaemon(true);
        thread.start();
    }
}
