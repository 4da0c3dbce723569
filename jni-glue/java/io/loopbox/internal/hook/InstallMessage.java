// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal.hook;

import android.os.Build;
import android.os.Looper;
import android.os.MessageQueue;
import android.os.Process;
import io.loopbox.internal.platform.Faults;
import io.loopbox.internal.recording.Native;

/**
 * The message in which the recorder is installed, mostly the one that starts the app. It started before any
 * hook. It ends when the next message starts or, where no message waits, when this idle handler is called.
 */
public final class InstallMessage implements MessageQueue.IdleHandler {
    /** Build.VERSION_CODES.N, which older SDKs do not have. */
    private static final int ANDROID_7 = 24;

    /** The instance that waits. Main thread. */
    private static InstallMessage waiting;

    private final int loops;

    private InstallMessage(int loops) {
        this.loops = loops;
    }

    /**
     * Starts to record the running message as the one in which the recorder was installed. Does nothing if no
     * message runs: install may also be called before the main Looper's loop.
     */
    public static void adopt() {
        StackTraceElement[] stack = Thread.currentThread().getStackTrace();
        int loops = MainThread.loops(stack);
        if (loops == 0 || isBetweenMessages(stack)) {
            return;
        }
        boolean binds = MainThread.binds(stack);
        Native.adopt(loops, binds, binds ? startMs() : 0);
        end();
        waiting = new InstallMessage(loops);
        Looper.myQueue().addIdleHandler(waiting);
    }

    /** Stops waiting for the end of the message, because recording has ended. On the main thread. */
    public static void end() {
        if (waiting != null) {
            Looper.myQueue().removeIdleHandler(waiting);
            waiting = null;
        }
    }

    /**
     * Whether this runs between two messages of the innermost loop: in an idle handler, for input, or in
     * another descriptor's callback.
     */
    private static boolean isBetweenMessages(StackTraceElement[] stack) {
        for (StackTraceElement frame : stack) {
            if (MainThread.isFrame(frame, "android.os.Looper", "loop")) {
                return false;
            }
            if (MainThread.isFrame(frame, "android.os.MessageQueue", "next")) {
                return true;
            }
        }
        return false;
    }

    /**
     * When handleBindApplication began; 0 when that is not known. The platform keeps this time since Android
     * 7. The process may be much older, when the system had forked it in advance.
     */
    private static long startMs() {
        try {
            return Build.VERSION.SDK_INT >= ANDROID_7 ? Process.getStartUptimeMillis() : 0;
        } catch (LinkageError absent) {
            return 0;
        }
    }

    @Override
    public boolean queueIdle() {
        try {
            // Of a loop inside of the message, whose queue is the same, this is no word about the message.
            if (MainThread.loops(Thread.currentThread().getStackTrace()) > loops) {
                return true;
            }
            waiting = null;
            Native.endAdopted();
        } catch (Throwable fault) {
            Faults.log(fault);
        }
        return false;
    }
}
