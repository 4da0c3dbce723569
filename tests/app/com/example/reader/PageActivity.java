package com.example.reader;

import android.app.Activity;
import android.os.Handler;
import android.os.Looper;
import android.os.SystemClock;

/** The reader's one screen. An argument sets how long opening a book takes. */
public final class PageActivity extends Activity {
    void open(final long ms) {
        new Handler(Looper.getMainLooper()).post(new OpenBook(ms));
    }

    /** The message that takes long. */
    private static final class OpenBook implements Runnable {
        private final long ms;

        OpenBook(long ms) {
            this.ms = ms;
        }

        @Override
        public void run() {
            long end = SystemClock.uptimeMillis() + ms;
            while (SystemClock.uptimeMillis() < end) {
                Thread.yield();
            }
        }
    }
}
