package android.app;

/** The bed has no broadcasts; the name of the Runnable that they come in is what the recorder tells them by. */
public final class LoadedApk {
    private LoadedApk() {}

    /** Where a receiver's broadcasts come from. */
    public static final class ReceiverDispatcher {
        private ReceiverDispatcher() {}

        /** A broadcast on its way, as until Android 8.1, when it was the Runnable itself. */
        public static final class Args implements Runnable {
            @Override
            public void run() {
                // A receiver that is not interested.
            }
        }
    }
}
