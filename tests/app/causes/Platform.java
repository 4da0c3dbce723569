package causes;

import android.app.ActivityThread;
import android.app.SharedPreferencesImpl;
import android.database.sqlite.SQLiteDatabase;
import android.os.BinderProxy;
import android.os.Looper;
import android.system.ErrnoException;
import android.system.Os;
import dalvik.system.DexFile;
import java.io.File;
import java.io.IOException;
import java.util.concurrent.CountDownLatch;

/**
 * Hangs below the platform's own methods. A named pipe simulates a slow disk: a thread that opens one end of
 * the pipe waits until another thread opens the other end, and nobody does.
 */
final class Platform {
    private static final int READ_AND_WRITE = 0600;

    private Platform() {}

    /** The scenario of this name; null for any other name. */
    static Runnable of(String what) {
        return switch (what) {
            case "load" -> new Hang(Settings::theme);
            case "apply" -> new Hang(Settings::save);
            case "query" -> new Hang(() -> new Orders().list());
            case "connection" -> new Hang(() -> {
                Orders orders = new Orders();
                orders.importInBackground();
                orders.list();
            });
            case "binder" -> new Hang(Shop::open);
            case "dex" -> new Hang(Plugins::load);
            case "library" -> new Hang(Engine::start);
            case "native" -> new Hang(Codec::open);
            default -> null;
        };
    }

    private static File pipe(File at) throws ErrnoException {
        Os.mkfifo(at.getPath(), READ_AND_WRITE);
        at.deleteOnExit();
        return at;
    }

    private static File unused(String name) throws IOException {
        File file = File.createTempFile(name, null);
        if (!file.delete()) {
            throw new IOException("cannot delete " + file);
        }
        return file;
    }

    /** Preferences on a disk that does not respond. */
    static final class Settings {
        static void theme() throws Exception {
            new SharedPreferencesImpl(pipe(unused("settings"))).getString("theme", "light");
        }

        /** Changes the preferences. Then the system stops the Activity. */
        static void save() throws Exception {
            File file = File.createTempFile("settings", null);
            SharedPreferencesImpl settings = new SharedPreferencesImpl(file);
            settings.getString("theme", "light");
            if (!file.delete()) {
                throw new IOException("cannot delete " + file);
            }
            pipe(file);
            settings.edit().apply();
            awaitWriter();
            new ActivityThread.H(Looper.getMainLooper())
                    .obtainMessage(ActivityThread.H.EXECUTE_TRANSACTION, ActivityThread.STOP_ACTIVITY)
                    .sendToTarget();
        }

        /** Waits until the thread that writes the preferences has reached the file. */
        private static void awaitWriter() throws InterruptedException {
            while (true) {
                for (StackTraceElement[] stack : Thread.getAllStackTraces().values()) {
                    for (StackTraceElement frame : stack) {
                        if (frame.getMethodName().equals("writeToFile")) {
                            return;
                        }
                    }
                }
                Thread.sleep(1);
            }
        }
    }

    /** A database that another thread, or another process, works on. */
    static final class Orders {
        private final SQLiteDatabase database = new SQLiteDatabase();

        void list() {
            database.rawQuery("SELECT * FROM orders");
        }

        void importInBackground() throws InterruptedException {
            final CountDownLatch began = new CountDownLatch(1);
            new Thread("import") {
                @Override
                public void run() {
                    database.beginTransaction();
                    began.countDown();
                    Causes.Work.sleep(600_000);
                }
            }.start();
            began.await();
        }
    }

    /** Main calls another process. */
    static final class Shop {
        static void open() {
            ICatalog.Stub.asInterface(new BinderProxy()).price(7);
        }
    }

    /** Code on a disk that does not respond. */
    static final class Plugins {
        static void load() throws Exception {
            new DexFile(pipe(unused("plugin")).getPath());
        }
    }

    /** A library whose constructor does not end, while the linker holds its lock. */
    static final class Engine {
        static void start() throws InterruptedException {
            // The host's C library has a new thread wait for that lock before it runs any code of a Rust
            // library; bionic does not. So it is taken when the recorder's threads run, whatever they have
            // done so far.
            for (String name : new String[] {"loopbox-worker", "loopbox-sampler"}) {
                while (!isAttached(name)) {
                    Thread.sleep(1);
                }
            }
            System.load(System.getProperty("causes.library"));
        }

        private static boolean isAttached(String name) {
            for (Thread thread : Thread.getAllStackTraces().keySet()) {
                if (thread.getName().equals(name)) {
                    return true;
                }
            }
            return false;
        }
    }

    /**
     * A native method that waits. Its native code is in the host program. The Java stack does not show what
     * the method waits for.
     */
    static final class Codec {
        static void open() {
            configure();
        }

        private static native void configure();
    }
}
