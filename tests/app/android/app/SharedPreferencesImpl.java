package android.app;

import java.io.File;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;

/**
 * Preferences in a file, with the names of API 29: one thread reads the whole file, a thread that wants a
 * value waits until then, and {@link QueuedWork} writes the whole file again. The content does not matter
 * here.
 */
public final class SharedPreferencesImpl {
    private final File file;
    private final Object lock = new Object();
    private boolean loaded;

    public SharedPreferencesImpl(File file) {
        this.file = file;
        startLoadFromDisk();
    }

    private void startLoadFromDisk() {
        new Thread("SharedPreferencesImpl-load") {
            @Override
            public void run() {
                loadFromDisk();
            }
        }.start();
    }

    private void loadFromDisk() {
        try {
            FileInputStream in = new FileInputStream(file);
            while (in.read() >= 0) {
                // All of it.
            }
            in.close();
        } catch (IOException failed) {
            throw new IllegalStateException(failed);
        }
        synchronized (lock) {
            loaded = true;
            lock.notifyAll();
        }
    }

    private void awaitLoadedLocked() {
        while (!loaded) {
            try {
                lock.wait();
            } catch (InterruptedException again) {
                // As on a device.
            }
        }
    }

    public String getString(String key, String otherwise) {
        synchronized (lock) {
            awaitLoadedLocked();
            return otherwise;
        }
    }

    public EditorImpl edit() {
        synchronized (lock) {
            awaitLoadedLocked();
        }
        return new EditorImpl();
    }

    private void writeToFile() {
        try {
            new FileOutputStream(file).close();
        } catch (IOException failed) {
            throw new IllegalStateException(failed);
        }
    }

    /** Changes that are written together. */
    public final class EditorImpl {
        private EditorImpl() {}

        public void apply() {
            QueuedWork.queue(
                    new Runnable() {
                        @Override
                        public void run() {
                            writeToFile();
                        }
                    });
        }
    }
}
