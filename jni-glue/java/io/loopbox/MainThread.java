package io.loopbox;

import android.os.Build;
import android.os.Handler;
import android.os.Message;
import android.util.Log;

/**
 * What both hooks do at the begin and end of a dispatch. Everything here runs on the main thread and is called for
 * every message, so it allocates nothing while all is well.
 */
final class MainThread {
    /** Annotated natives are honoured from Android 8 on; before, the critical calling convention would be wrong. */
    private static final boolean CRITICAL = Build.VERSION.SDK_INT >= 26;

    private static final Class<?> ACTIVITY_HANDLER = find("android.app.ActivityThread$H");
    private static final Class<?> JOB_HANDLER = find("android.app.job.JobServiceEngine$JobHandler");

    /** Where the class name begins in a start line whose target prints itself as Handler does. */
    private static final int CLASS_AT = ">>>>> Dispatching to Handler (".length();
    private static final String ACTIVITY_HANDLER_TEXT = "android.app.ActivityThread$H) ";
    private static final String JOB_HANDLER_TEXT = "android.app.job.JobServiceEngine$JobHandler) ";

    private final Thread thread;
    private int depth;
    private int begun;

    /** So many of the running messages are known to have a loop inside of them. */
    private int nested;

    MainThread(Thread thread) {
        this.thread = thread;
    }

    boolean isCurrent() {
        return Thread.currentThread() == thread;
    }

    /** How many dispatches have begun; wraps. */
    int begun() {
        return begun;
    }

    /** How many messages run: 0 between two, 2 in a nested Looper.loop(). */
    int depth() {
        return depth;
    }

    /** @return whether the message before, whose end was never told, wants a name */
    boolean begin() {
        begun++;
        int said;
        if (depth > nested && !isNested()) {
            said = Native.beginAnew();
        } else {
            said = CRITICAL ? Native.beginCritical() : Native.begin();
        }
        depth = said >> Native.DEPTH_SHIFT;
        return (said & Native.WANTS_NAME) != 0;
    }

    /** @return whether the message wants a name */
    private boolean end(long whenMs, boolean threw) {
        int said = CRITICAL ? Native.endCritical(whenMs, threw) : Native.end(whenMs, threw);
        depth = said >> Native.DEPTH_SHIFT;
        if (nested > depth) {
            nested = depth;
        }
        return (said & Native.WANTS_NAME) != 0;
    }

    /** The end that Looper's observer tells, with the message still intact. */
    void end(Message message, boolean threw) {
        boolean wantsName = end(message.getWhen(), threw);
        Handler target = message.getTarget();
        Class<?> type = target == null ? null : target.getClass();
        if (wantsName || (type != null && (type == ACTIVITY_HANDLER || type == JOB_HANDLER))) {
            Runnable callback = message.getCallback();
            Native.describe(
                    type == null ? "" : type.getName(),
                    callback == null ? "" : callback.getClass().getName(),
                    message.what);
        }
    }

    /** The end that Looper prints; {@code lines} are the start lines of the running messages, outermost first. */
    void end(String[] lines) {
        boolean wantsName = end(-1, false);
        String line = depth < lines.length ? lines[depth] : null;
        if (line != null && (wantsName || isComponent(line))) {
            Native.describeLine(line);
        }
    }

    /**
     * A message begins while another seems to run: Looper.loop() is nested, or that one ended without a word and the
     * app went on with a new loop. The stack tells; the native side could only guess by the stack's depth.
     */
    private boolean isNested() {
        int loops = 0;
        for (StackTraceElement frame : Thread.currentThread().getStackTrace()) {
            if ("loop".equals(frame.getMethodName()) && "android.os.Looper".equals(frame.getClassName())) {
                loops++;
            }
        }
        nested = Math.min(depth, loops - 1);
        return loops > 1;
    }

    private static boolean isComponent(String line) {
        return line.startsWith(ACTIVITY_HANDLER_TEXT, CLASS_AT) || line.startsWith(JOB_HANDLER_TEXT, CLASS_AT);
    }

    private static Class<?> find(String name) {
        try {
            return Class.forName(name, false, MainThread.class.getClassLoader());
        } catch (ClassNotFoundException absent) {
            return null;
        } catch (LinkageError broken) {
            Log.w(Loopbox.TAG, "cannot tell messages of " + name, broken);
            return null;
        }
    }
}
