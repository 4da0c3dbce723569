package bench;

import android.os.Handler;
import android.os.HandlerThread;
import android.os.Looper;
import android.util.Printer;

/**
 * A monitor in the style of well-known performance SDKs: a Printer that makes an object for each message and posts a
 * time-out Runnable to a watching thread, which it removes at the message's end.
 */
final class PostingMonitor implements HookBench.Variant, Printer {
    private static final long TIMEOUT_MS = 5_000;

    private static final class Dispatch implements Runnable {
        final String line;
        final long begunNs;

        Dispatch(String line, long begunNs) {
            this.line = line;
            this.begunNs = begunNs;
        }

        @Override public void run() {
            System.out.println("slow: " + line);
        }
    }

    private HandlerThread thread;
    private Handler watcher;
    private Dispatch running;
    private long longestNs;

    @Override public boolean install() {
        thread = new HandlerThread("watcher");
        thread.start();
        watcher = new Handler(thread.getLooper());
        Looper.getMainLooper().setMessageLogging(this);
        return true;
    }

    @Override public void uninstall() throws Exception {
        Looper.getMainLooper().setMessageLogging(null);
        thread.quit();
        thread.join();
    }

    @Override public void println(String line) {
        if (line.charAt(0) == '>') {
            running = new Dispatch(line, System.nanoTime());
            watcher.postDelayed(running, TIMEOUT_MS);
        } else if (running != null) {
            watcher.removeCallbacks(running);
            longestNs = Math.max(longestNs, System.nanoTime() - running.begunNs);
            running = null;
        }
    }
}
