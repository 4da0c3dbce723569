package android.view;

import android.os.Handler;
import android.os.Looper;
import android.os.Message;

/** The bed draws nothing; the name of the handler that frames come by is what the recorder tells them by. */
public final class Choreographer {
    private Choreographer() {}

    /** Stands in for the handler of frames. */
    public static final class FrameHandler extends Handler {
        /** MSG_DO_FRAME. */
        public static final int DO_FRAME = 0;

        public FrameHandler(Looper looper) {
            super(looper);
        }

        @Override
        public void handleMessage(Message message) {
            // A frame without anything to draw.
        }
    }
}
