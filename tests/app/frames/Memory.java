package frames;

import dalvik.system.PathClassLoader;

/** Code that allocates, while a collector moves objects and unloads classes. */
final class Memory {
    static volatile boolean stop;

    private Memory() {}

    /** Runs a collection every few milliseconds until {@link #stop} is set. */
    static Thread collectInBackground() {
        Thread thread = new Thread("collector") {
            @Override public void run() {
                while (!stop) {
                    Runtime.getRuntime().gc();
                    try {
                        Thread.sleep(5);
                    } catch (InterruptedException e) {
                        return;
                    }
                }
            }
        };
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    /** Many short-lived objects, some of which survive a while. */
    static final class Allocation extends Phase {
        private final Object[] kept = new Object[256];

        @Override void run(long endNs) {
            for (int i = 0; before(endNs); i++) {
                kept[i & 255] = grow(i & 31, new byte[64]);
                sink = kept[(i * 7) & 255] == null ? 0 : 1;
            }
        }

        private static Object grow(int depth, Object inner) {
            return depth == 0 ? inner : grow(depth - 1, new Object[] {inner, new byte[depth * 8]});
        }
    }

    /** Loads a class through a new loader, runs it, drops both. */
    static final class ClassLoading extends Phase {
        @Override void run(long endNs) throws Exception {
            String path = System.getProperty("java.class.path");
            ClassLoader parent = String.class.getClassLoader();
            while (before(endNs)) {
                ClassLoader loader = new PathClassLoader(path, parent);
                Class<?> loaded = loader.loadClass(Passenger.class.getName());
                for (int i = 0; i < 20; i++) {
                    sink = (Integer) loaded.getMethod("ride", int.class).invoke(null, 400);
                }
            }
        }
    }

    /** The class that is loaded and dropped. It refers only to boot classes. */
    public static final class Passenger {
        private Passenger() {}

        public static int ride(int rounds) {
            int x = rounds;
            for (int i = 0; i < rounds; i++) {
                x = x * 31 + inner(i);
            }
            return x;
        }

        private static int inner(int i) {
            int x = i;
            for (int n = 0; n < 30; n++) {
                x += x >> 2;
            }
            return x;
        }
    }
}
