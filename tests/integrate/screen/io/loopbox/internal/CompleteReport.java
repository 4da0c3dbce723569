package io.loopbox.internal; // what the native side calls is for its package alone

import io.loopbox.internal.platform.ListenerThread;
import io.loopbox.internal.recording.Listeners;
import io.loopbox.internal.recording.Native;

/** Calls the listeners as the recorder does, on separate threads, and waits for them. */
public final class CompleteReport {
    private CompleteReport() {}

    public static void complete(final String path) throws InterruptedException {
        Listeners.begin(null);
        NativeCalls.onReport(path, Native.FIRST_FILE);
        NativeCalls.onReport(path, Native.COMPLETE);
        Listeners.end();
        for (Thread thread : Thread.getAllStackTraces().keySet()) {
            if (thread instanceof ListenerThread) {
                thread.join();
            }
        }
    }
}
