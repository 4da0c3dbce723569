package io.loopbox.internal; // what the native side calls is for its package alone

/** Calls the listeners as the recorder does, on a thread of its own. */
public final class TellReport {
    private TellReport() {}

    public static void complete(final String path) throws InterruptedException {
        Thread listener =
                new Thread("loopbox-listener") {
                    @Override
                    public void run() {
                        NativeCalls.onReport(path, Native.FIRST_FILE);
                        NativeCalls.onReport(path, Native.COMPLETE);
                    }
                };
        listener.start();
        listener.join();
    }
}
