// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal.recording;

import android.os.MessageQueue;
import dalvik.annotation.optimization.CriticalNative;
import dalvik.annotation.optimization.FastNative;
import java.lang.reflect.Member;

/**
 * The native half. JNI_OnLoad registers every method here explicitly, so that a name changed by a shrinker is
 * detected when the library is loaded, and not at an ANR.
 */
public final class Native {
    /** A bit in the result of begin and end: a message wants {@link #describe} or {@link #describeLine}. */
    public static final int WANTS_NAME = 1;

    /**
     * How far to shift the result of begin and end to get the number of messages that run inside each other.
     */
    public static final int DEPTH_SHIFT = 1;

    /**
     * Returned by begin: another message seems to run, so nothing was recorded. {@link #beginIn} then decides
     * whether the other message still runs. Returned by end: an inner message was left without an end, by an
     * Error or, with the Printer hook, by any exception. The recorder has now closed the inner message. The
     * caller may describe it, and then calls end again for the outer message.
     */
    public static final int IN_DOUBT = -1;

    /**
     * Returned by begin, end and depth: this is not the main thread, or nothing records. Nothing was done.
     */
    static final int ELSEWHERE = -2;

    /** Passed to NativeCalls.onReport: the report has everything that is known by now. */
    public static final long COMPLETE = 0;

    /** Passed to NativeCalls.onReport: the report has a file, and more is to come. */
    public static final long FIRST_FILE = -1;

    /**
     * Passed to NativeCalls.onReport, without a report: the rings and reports of earlier processes have been
     * read.
     */
    public static final long PREVIOUS_RUNS_READ = -2;

    /**
     * Passed to NativeCalls.onReport: the system warns of an ANR, and main is late. In place of the path
     * there are four numbers with blanks between: id, type, the part of the time-out that has passed, and the
     * whole time-out, both in ms.
     */
    public static final long WARNED = -3;

    /**
     * Passed to NativeCalls.onReport, without a report: a message became a suspect. In place of the path: the
     * name of the file that its report would have, without its ending. Only where {@code hangTraceMs} is not
     * 0.
     */
    public static final long SUSPECT = -4;

    // What setFrames is about.
    public static final int FRAMES = 0;
    public static final int STAGES = 1;
    public static final int TOUCH = 2;
    public static final int JANKS = 3;

    // What NativeCalls.onFrames is about; else of skipped frames.
    public static final int FRAME_WINDOW = 0;
    public static final int FRAME_GESTURE = 1;

    private Native() {}

    /**
     * Starts the recorder. On the main thread only.
     *
     * @param numbers as {@link Settings#numbers} lists them
     * @param strings as {@link Settings#strings} lists them
     * @return null, or why it could not start
     */
    public static native String install(long[] numbers, String[] strings);

    /**
     * Ends the recording: from now on the recorder's callbacks do nothing. What only the main thread can undo
     * stays until {@link #leave} is called. Any thread.
     */
    public static native void uninstall();

    /**
     * Waits until each thread of the recorder has finished what it began before {@link #uninstall}. Waits for
     * {@code mostMs} at most. Any thread.
     */
    public static native void awaitEnd(long mostMs);

    /**
     * Undoes the part of the installation that only the main thread can undo, after the hook was removed. On
     * the main thread only.
     */
    public static native void leave();

    /** Switches stack sampling off and on while the recorder runs. Any thread. */
    public static native void setSampling(boolean on);

    /**
     * The hook was found removed: messages may have run unseen since the last one that was seen. Any thread.
     */
    public static native void setUnseen();

    /**
     * With true: stops watching the main thread, because the recording is paused and its hook is removed or
     * about to be removed. With false: watches the main thread again. Any thread.
     */
    public static native void setPaused(boolean paused);

    /**
     * Sets whether the app is in the background: then less is read, and nothing is read in a way that breaks
     * when the system freezes the process. Any thread.
     */
    public static native void setBackground(boolean background);

    /**
     * From now on {@code NativeCalls.onMonitor} is called, with stacks, for messages that took longer than
     * {@code levelMs} and for each message that has run for {@code blockMs}. It is also called every {@code
     * tickMs} while messages run. Any thread.
     *
     * @param levelMs 0 ends these calls
     * @param blockMs 0 leaves out the calls about messages that still run
     * @return false while nothing records
     */
    public static native boolean setMonitor(long levelMs, long blockMs, long tickMs);

    /** The hook may be displaced: main is watched without it until {@link #setHook}. Any thread. */
    public static native void doubtHook();

    /**
     * Sets the state of the hook for the report: on or off, and how or why. While it is off, main is watched
     * without it.
     */
    public static native void setHook(boolean on, String detail);

    /**
     * Sets the state of a frame feature for the report (frames, their stages, touches, or jank types): on or
     * off, and how or why. Any thread.
     */
    public static native void setFrames(int which, boolean on, String detail);

    /**
     * Passes one FrameMetrics: its values, with its constants as indices, then the window, and how many
     * reports were lost before it. Not the main thread.
     */
    @FastNative
    public static native void stages(long[] values);

    /**
     * Passes the jank type that the compositor gave to the frame with this vsync number: which side made the
     * frame late, as in SurfaceControl.JankData. Not the main thread.
     */
    @FastNative
    public static native void jankType(long vsyncId, int janks);

    /**
     * A line for each screen and each gesture, as {@link io.loopbox.FrameStats} reads it; null where no
     * frames are recorded. Not the main thread.
     *
     * @param forgets whether the figures start anew
     */
    public static native String frameStats(boolean forgets);

    /**
     * A line for each part of the recorder: name, 1 or 0 for on or off, detail, with tabs between. Any
     * thread.
     */
    public static native String features();

    /**
     * Adds an annotation to each report from now on; null removes it. Any thread.
     *
     * @return whether there is room for the name
     */
    public static native boolean annotate(String name, String value);

    /** Keeps a breadcrumb of the app: its name, and its time, uptime in nanoseconds. Any thread. */
    static native void breadcrumb(String name, long atNs);

    /**
     * Writes a report and waits for it. Any thread.
     *
     * @param inListener whether this is called inside a listener of reports, which gets no report
     * @return null when there is none
     */
    public static native String dump(String reason, long timeoutMs, boolean inListener);

    /**
     * Writes a report without waiting for it. Any thread.
     *
     * @param asked the number of the request, above 0. NativeCalls.onReport is called with it when the report
     *     is complete, or when it is certain that there is none. 0 for no call
     * @param inListener as in {@link #dump}
     * @return false while nothing records; then there is no call
     */
    public static native boolean askForDump(String reason, long asked, boolean inListener);

    /** How many dispatches the hook has seen begin. Any thread. */
    @FastNative
    public static native long begun();

    /**
     * Whether main has used processor time since it went to rest: 1 for yes, 0 for no. Main went to rest
     * when, after the last message of the hook, it was first seen to wait. Negative if main was not seen to
     * wait since then, if a message runs, or if this is not known. Any thread.
     */
    public static native int ranAtRest();

    // The next do something on the main thread only.

    /**
     * A dispatch begins. Returns {@link #IN_DOUBT}, or how many messages run, together with {@link
     * #WANTS_NAME} when the previous message wants a name. The previous message wants a name only if its end
     * was not reported. An Error prevents the report of an end; with the Printer hook, so does any exception.
     */
    @FastNative
    public static native int begin();

    /** {@link #begin}, with the number of Looper.loop() calls that are on the stack. */
    @FastNative
    public static native int beginIn(int loops);

    /**
     * Replaces the function of MessageQueue.nativePollOnce, for this queue, the main thread's. On the main
     * thread.
     *
     * @return null, or why it cannot be
     */
    public static native String pollIn(MessageQueue queue);

    /**
     * Makes the poll hook read the queue's head from now on. On the main thread, with the hook in.
     *
     * @param members in this order: the field of MessageQueue for the first message; the fields of Message
     *     for the next message, time, target, callback and {@code what}; Message.isAsynchronous;
     *     Class.getName
     */
    public static native void pollPeek(MessageQueue queue, Member[] members);

    /**
     * Restores the previous poll function, where no other library's function is on top. On the main thread.
     */
    public static native void pollOut(MessageQueue queue);

    /**
     * Which function polls now: 1 for ours, 0 when that cannot be read, else a number for another one. Any
     * thread.
     */
    public static native long pollThere();

    /** An idle handler is called: what runs is no message. On the main thread. */
    public static native void pollIdle();

    /**
     * A life-cycle callback of an activity of this class is called. The callback names the message where the
     * hook sees no message. On the main thread.
     *
     * @param step one of the constants from {@link #CREATE} on
     */
    public static native void inActivity(String activity, int step);

    // As LifecycleStep of loopbox-format.
    public static final int CREATE = 1;
    public static final int START = 2;
    public static final int RESUME = 3;
    public static final int PAUSE = 4;
    public static final int STOP = 5;
    public static final int DESTROY = 6;

    /** How many messages run inside each other. */
    @FastNative
    public static native int depth();

    /**
     * The recorder was installed inside of a message; from now on that message is recorded. Called before the
     * hook is in.
     *
     * @param loops how many Looper.loop() are on the stack
     * @param binds whether that message starts the app
     * @param startMs when it began, uptime; 0 stands for the start of the process
     */
    public static native void adopt(int loops, boolean binds, long startMs);

    /** The Looper has continued after the message that the recorder was installed in. */
    @FastNative
    public static native void endAdopted();

    /**
     * The Looper is about to wait for a message. If a message still counts as running, it runs a loop itself,
     * or its end was missed.
     */
    @FastNative
    public static native void rests();

    /**
     * The callback of a watched window gets an input event. Returns whether the event counts as a message: it
     * does while no message runs and the recorder records.
     */
    @FastNative
    public static native boolean beginInput();

    /** The call that {@link #beginInput} has counted has ended. */
    @FastNative
    public static native void endInput(String target, boolean threw);


    /**
     * A dispatch ended: returns how many messages still run and whether this one wants a name.
     *
     * @param whenMs Message.getWhen(), or -1 when it is not known
     */
    @FastNative
    public static native int end(long whenMs, boolean threw);

    /** {@link #begin} without an environment, for Android 8 and newer. */
    @CriticalNative
    public static native int beginCritical();

    /** {@link #end} without an environment, for Android 8 and newer. */
    @CriticalNative
    public static native int endCritical(long whenMs, boolean threw);

    /** Names the message that just ended. */
    @FastNative
    public static native void describe(String target, String callback, int what);

    /** Names the message that just ended by the line that Looper printed at its start. */
    @FastNative
    public static native void describeLine(String line);

    /** The frame callback runs. Returns whether to post it again. */
    @FastNative
    public static native boolean frame(long frameTimeNanos);

    /** {@link #frame} without an environment, for Android 8 and newer. */
    @CriticalNative
    public static native boolean frameCritical(long frameTimeNanos);

    /**
     * A view has scrolled, at this time of the animation clock. Returns whether to post the frame callback.
     */
    @FastNative
    public static native boolean scrolled(long clockMs);

    /** An animation begins or ends. Returns whether to post the frame callback. */
    @FastNative
    public static native boolean animate(boolean begins);

    /** The frame callback that was posted is taken back, and no animation runs any more. */
    @FastNative
    public static native void stopFrames();

    /**
     * A touch. {@code action} is that of the MotionEvent: the first finger went down, a finger moved, or the
     * last finger was lifted. {@code distanceDp} is the distance from where the finger went down.
     */
    @FastNative
    public static native void touch(int action, float distanceDp);

    /** Frames from now on are of this screen. */
    public static native void frameScene(String name);

    /** Passes the display's refresh rate, as the display reports it. */
    @FastNative
    public static native void refreshRate(float hz);

    /** The system warns of an ANR of this app, without naming the process. Any thread. */
    public static native void warnOfAnr(int id, int type, long consumedMs, long timeoutMs);

    // The sampler's own, called from its native thread.

    /**
     * Finds and checks ART. Its self-check calls {@link #walk}, and expects exactly that method on top of the
     * thread's stack.
     */
    static native void discover();

    /**
     * Walks the stack of a suspended thread, or of the calling thread. A fast native, so that the calling
     * thread is runnable and no collection runs meanwhile.
     */
    @FastNative
    static native void walk();

    /**
     * Finds the one of these threads whose end the main thread waits for. A fast native, so that no object
     * that it reads is moved. Any thread.
     *
     * @param threads up to the first null
     * @return negative for none. Otherwise the lower half is the index in the array, and the upper half the
     *     id that the kernel gives the thread, 0 when that is not known
     */
    @FastNative
    public static native long joined(Thread[] threads);
}
