package android.app;

import android.os.Handler;
import android.os.Looper;
import android.os.Message;
import android.os.Process;
import android.os.SystemClock;

/** The bed has no ActivityThread; its handler's name and codes are what the recorder tells component messages by. */
public final class ActivityThread {
    private ActivityThread() {}

    /** Starts the app: on a device by its providers and its Application. */
    private static void handleBindApplication(Runnable app) {
        Process.setStartTimes(SystemClock.elapsedRealtime(), SystemClock.uptimeMillis());
        app.run();
    }

    /** Stands in for the handler that runs activities, services and receivers on a device. */
    public static final class H extends Handler {
        /** Since Android 9 every change of an activity's state comes as this message. */
        public static final int EXECUTE_TRANSACTION = 159;

        public static final int CREATE_SERVICE = 114;

        public static final int BIND_APPLICATION = 110;

        public H(Looper looper) {
            super(looper);
        }

        @Override
        public void handleMessage(Message message) {
            if (message.what == BIND_APPLICATION) {
                handleBindApplication((Runnable) message.obj);
                return;
            }
            // As short as a state change that finds nothing to do, unless arg1 says otherwise.
            if (message.arg1 > 0) {
                SystemClock.sleep(message.arg1);
            }
        }
    }
}
