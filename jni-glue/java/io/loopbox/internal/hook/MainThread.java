// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal.hook;

import android.os.Build;
import android.os.Handler;
import android.os.Message;
import io.loopbox.internal.platform.RecorderLog;
import io.loopbox.internal.recording.Native;

/**
 * What the hooks call at the start and end of a dispatch. It runs for every message, so an ordinary message
 * allocates nothing and needs few calls: the native side knows the thread, and its result shows whether there
 * is more to do.
 */
public final class MainThread {
    /**
     * Whether annotated natives may be called. Android honours the annotation from version 8 on; on older
     * versions the critical calling convention would be wrong.
     */
    public static final boolean CRITICAL = Build.VERSION.SDK_INT >= 26;

    static final Class<?> ACTIVITY_HANDLER = find("android.app.ActivityThread$H");
    /** The class of the Handler that runs jobs: of JobServiceEngine, or of JobService up to Android 7. */
    static final Class<?> JOB_HANDLER =
            findEither("android.app.job.JobServiceEngine$JobHandler", "android.app.job.JobService$JobHandler");

    static final Class<?> FRAME_HANDLER = find("android.view.Choreographer$FrameHandler");

    /**
     * The class of the Runnable that delivers a broadcast to a receiver, on any Handler: a lambda since
     * Android 9.
     */
    static final Class<?> RECEIVER = findReceiver();

    /** Where the class name begins in a start line whose target prints itself as Handler does. */
    private static final int CLASS_AT = ">>>>> Dispatching to Handler (".length();
    private static final String QUEUE = "android.os.MessageQueue";
    /** The number of bits for each number in the result of {@link #pollStack}. */
    private static final int BITS = 10;

    private static final int MOST = (1 << BITS) - 1;
    private static final String FRAMEWORK_TEXT = "android.";
    private static final String FRAME_HANDLER_TEXT = "android.view.Choreographer$FrameHandler) ";
    private static final String RECEIVER_TEXT = "android.app.LoadedApk$ReceiverDispatcher$Args";
    private static final String RECEIVER_LAMBDA_TEXT = "android.app.-$$Lambda$LoadedApk$ReceiverDispatcher$Args$";
    private static final String ACTIVITY_HANDLER_TEXT = "android.app.ActivityThread$H) ";
    private static final String JOB_HANDLER_TEXT = "android.app.job.JobServiceEngine$JobHandler) ";
    private static final String OLD_JOB_HANDLER_TEXT = "android.app.job.JobService$JobHandler) ";

    private MainThread() {}

    /** Called when a dispatch begins. For the result see {@link Native#begin}. */
    static int begin() {
        int said = CRITICAL ? Native.beginCritical() : Native.begin();
        return said == Native.IN_DOUBT ? beginInDoubt() : said;
    }

    /**
     * Called when a message begins while another one seems to run. Either Looper.loop() is nested. Or the
     * hook was not called at the end of the other message, and the app has begun a new loop. The stack shows
     * which. The native side could only guess by the stack's depth.
     */
    static int beginInDoubt() {
        return Native.beginIn(loops(Thread.currentThread().getStackTrace()));
    }

    /** How many calls of Looper.loop() are on the stack. */
    static int loops(StackTraceElement[] stack) {
        int loops = 0;
        for (StackTraceElement frame : stack) {
            if (isFrame(frame, "android.os.Looper", "loop")) {
                loops++;
            }
        }
        return loops;
    }

    /** Whether the message on the stack is the one that starts the app. */
    static boolean binds(StackTraceElement[] stack) {
        for (StackTraceElement frame : stack) {
            if (isFrame(frame, "android.app.ActivityThread", "handleBindApplication")) {
                return true;
            }
        }
        return false;
    }

    /** Whether no Activity can have existed yet: the app starts, or no message has run at all. */
    public static boolean isStarting(StackTraceElement[] stack) {
        return loops(stack) == 0 || binds(stack);
    }

    /**
     * Where the poll is on this stack, as three numbers of ten bits: how many frames there are from
     * nativePollOnce outwards; how many from queueIdle outwards, when the poll is inside of an idle handler,
     * otherwise 0; and the number of Looper.loop() on the stack.
     */
    public static int pollStack(StackTraceElement[] stack) {
        int at = 0;
        while (at < stack.length && !isFrame(stack[at], QUEUE, "nativePollOnce")) {
            at++;
        }
        int frames = stack.length - at;
        int idleOf = 0;
        for (int i = at + 1; i + 1 < stack.length && idleOf == 0; i++) {
            if ("queueIdle".equals(stack[i].getMethodName()) && QUEUE.equals(stack[i + 1].getClassName())) {
                // The poll of that loop was called by the same method as the handler.
                idleOf = stack.length - i;
            }
        }
        return Math.min(frames, MOST) | Math.min(idleOf, MOST) << BITS | Math.min(loops(stack), MOST) << 2 * BITS;
    }

    static boolean isFrame(StackTraceElement frame, String type, String method) {
        return method.equals(frame.getMethodName()) && type.equals(frame.getClassName());
    }

    /** Called at the end of a dispatch that Looper printed. For the result see {@link Native#end}. */
    static int end() {
        return CRITICAL ? Native.endCritical(-1, false) : Native.end(-1, false);
    }

    /** Called when Looper's observer reports the end of a dispatch, with the message still intact. */
    static void end(Message message, boolean threw) {
        long when = message.getWhen();
        int said;
        do {
            said = CRITICAL ? Native.endCritical(when, threw) : Native.end(when, threw);
            // An inner message that an Error left is closed without a name: its Message is not known.
        } while (said == Native.IN_DOUBT);
        Handler target = message.getTarget();
        if ((said & Native.WANTS_NAME) != 0 || (target != null && isComponent(target.getClass(), message))) {
            name(target, message);
        }
    }

    /**
     * Gives the native side the names of a message: the classes of its target and callback, and its code.
     * {@code target} is null when the app took it from the message.
     */
    static void name(Handler target, Message message) {
        Runnable callback = message.getCallback();
        Native.describe(
                target == null ? "" : target.getClass().getName(),
                callback == null ? "" : callback.getClass().getName(),
                message.what);
    }

    static boolean isComponent(Class<?> target, Message message) {
        if (target == ACTIVITY_HANDLER || target == JOB_HANDLER || target == FRAME_HANDLER) {
            return true;
        }
        Runnable callback = message.getCallback();
        return callback != null && callback.getClass() == RECEIVER;
    }

    /** Whether a start line belongs to a message that is kept by name however short it is. */
    static boolean isComponent(String line) {
        if (line.startsWith(FRAMEWORK_TEXT, CLASS_AT)
                && (line.startsWith(ACTIVITY_HANDLER_TEXT, CLASS_AT)
                        || line.startsWith(JOB_HANDLER_TEXT, CLASS_AT)
                        || line.startsWith(OLD_JOB_HANDLER_TEXT, CLASS_AT)
                        || line.startsWith(FRAME_HANDLER_TEXT, CLASS_AT))) {
            return true;
        }
        // After the Handler's identity in braces comes the callback.
        int callbackAt = line.indexOf('}', CLASS_AT) + 2;
        return line.startsWith(FRAMEWORK_TEXT, callbackAt)
                && (line.startsWith(RECEIVER_TEXT, callbackAt) || line.startsWith(RECEIVER_LAMBDA_TEXT, callbackAt));
    }

    private static Class<?> findReceiver() {
        String[] names = {
            RECEIVER_TEXT + "$$ExternalSyntheticLambda0",
            RECEIVER_LAMBDA_TEXT + "_BumDX2UKsnxLVrE6UJsJZkotuA",
            RECEIVER_TEXT,
        };
        for (String name : names) {
            Class<?> found = find(name);
            if (found != null && Runnable.class.isAssignableFrom(found)) {
                return found;
            }
        }
        return null;
    }

    private static Class<?> findEither(String name, String older) {
        Class<?> found = find(name);
        return found != null ? found : find(older);
    }

    private static Class<?> find(String name) {
        try {
            return Class.forName(name, false, MainThread.class.getClassLoader());
        } catch (ClassNotFoundException absent) {
            return null;
        } catch (LinkageError broken) {
            RecorderLog.warn("cannot distinguish messages of " + name, broken);
            return null;
        }
    }
}
