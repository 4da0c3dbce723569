package android.os;

import android.util.Printer;

/** The part of android.os.Looper that the recorder uses, with the hidden interface that Android 10 added. */
public final class Looper {
    private Looper() {}

    public static native Looper getMainLooper();

    public static native Looper myLooper();

    public static native MessageQueue myQueue();

    public native Thread getThread();

    public native void setMessageLogging(Printer printer);

    public native void dump(Printer printer, String prefix);

    /** Since API 23. */
    public native MessageQueue getQueue();

    /**
     * A hidden interface, since API 29. Where the interface is absent, a class that implements it fails to
     * link, and {@code new} of that class throws a LinkageError.
     */
    public interface Observer {
        Object messageDispatchStarting();

        void messageDispatched(Object token, Message message);

        void dispatchingThrewException(Object token, Message message, Exception exception);
    }
}
