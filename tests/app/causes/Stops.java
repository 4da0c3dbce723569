package causes;

import dalvik.system.VMDebug;
import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** Main computes, but makes no progress: something else stops it, or takes the processors. */
final class Stops implements Runnable {
    /** How many small objects there are: a walk through a heap with this many takes long. */
    private static final int OBJECTS = 600_000;

    private final String what;

    private Stops(String what) {
        this.what = what;
    }

    /** The scenario of this name; null for any other name. */
    static Runnable of(String what) {
        switch (what) {
            case "heap-dump":
            case "heap-dumps":
            case "instances":
                Leaks.fill();
                return new Stops(what);
            case "stopped":
            case "frozen":
            case "quota":
            case "neighbours":
            case "debugger":
            case "debugger-waits":
            case "threads":
                return new Stops(what);
            default:
                return null;
        }
    }

    @Override
    public void run() {
        switch (what) {
            case "heap-dump":
                // They are over when the report is written.
                Leaks.dump(4_000);
                break;
            case "heap-dumps":
                Leaks.dump(600_000);
                break;
            case "instances":
                Leaks.count();
                break;
            case "threads":
                Workers.start();
                break;
            default:
                // Who runs this app does the rest.
                System.out.println("SCRIPT hangs");
                System.out.flush();
        }
        if (what.equals("debugger-waits")) {
            Causes.Work.sleep(600_000);
        }
        Route.find();
    }

    /** The code that main's stack shows, which is not the cause. */
    static final class Route {
        static void find() {
            long sum = 1;
            while (sum != 0) {
                sum = sum * 31 + 1 | 1;
            }
        }
    }

    /** Threads of the app, each with a different name. */
    static final class Workers {
        private static final String[] NAMES = {
            "downloader", "image loader", "search index", "parser", "telemetry", "video", "chat", "backup", "map tiles",
            "spell checker", "sync", "encoder", "decoder", "prefetch", "layout", "ads"
        };

        static void start() {
            int processors = Runtime.getRuntime().availableProcessors();
            for (int round = 0; round < Math.max(1, processors / 2); round++) {
                for (String name : NAMES) {
                    new Thread(name) {
                        @Override
                        public void run() {
                            Causes.Work.busy(600_000);
                        }
                    }.start();
                }
            }
        }
    }

    /** A leak detector inside the app. */
    static final class Leaks {
        private static final List<Object> KEPT = new ArrayList<>();

        static void fill() {
            if (KEPT.isEmpty()) {
                for (int i = 0; i < OBJECTS; i++) {
                    KEPT.add(new Object[] {i});
                }
            }
        }

        /** Writes heap dumps for this long, one after the other. */
        static void dump(final int ms) {
            new Thread("leaks") {
                @Override
                public void run() {
                    long until = System.nanoTime() + ms * 1_000_000L;
                    do {
                        write();
                    } while (System.nanoTime() - until < 0);
                }
            }.start();
        }

        private static void write() {
            try {
                File file = File.createTempFile("heap", null);
                VMDebug.dumpHprofData(file.getPath());
                if (!file.delete()) {
                    throw new IOException("cannot delete " + file);
                }
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        }

        /** Counts the objects on the heap repeatedly. */
        static void count() {
            new Thread("leaks") {
                @Override
                public void run() {
                    while (true) {
                        VMDebug.countInstancesOfClass(Object[].class, true);
                    }
                }
            }.start();
        }
    }
}
