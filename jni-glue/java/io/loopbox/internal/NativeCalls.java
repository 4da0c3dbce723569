// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal;

import io.loopbox.internal.frames.FrameWatch;
import io.loopbox.internal.frames.InputWatch;
import io.loopbox.internal.hook.MainHook;
import io.loopbox.internal.hook.MainThread;
import io.loopbox.internal.monitor.MonitorThread;
import io.loopbox.internal.platform.Faults;
import io.loopbox.internal.recording.Listeners;
import io.loopbox.internal.recording.Native;
import io.loopbox.internal.recording.Recording;
import io.loopbox.internal.report.AskedDumps;
import io.loopbox.internal.report.Digest;
import io.loopbox.internal.report.SystemProfiles;
import java.io.File;

/** The methods that the native side calls, on native threads. */
final class NativeCalls {
    private NativeCalls() {}

    /**
     * The name of what runs, or null. For a message it is the line that Looper printed at its start. For
     * input outside of messages it is "input" and the class of the window's callback.
     */
    static String runningLine() {
        String line = MainHook.runningLine();
        return line == null ? InputWatch.running() : line;
    }

    /**
     * Passes figures of frames on to listeners. On the worker.
     *
     * @param kind {@link Native#FRAME_WINDOW}, {@link Native#FRAME_GESTURE}, or another number for skipped
     *     frames
     * @param values as the native side passes them (monitor/display_frames.rs)
     */
    static void onFrames(int kind, long[] values, String scene) {
        try {
            FrameWatch.notifyListeners(kind, values, scene);
        } catch (Throwable fault) {
            Faults.log(fault);
        }
    }

    /**
     * Where the poll is on the main thread's stack, see {@link MainThread#pollStack}. Called on the main
     * thread, in a poll of its queue.
     */
    static int pollStack() {
        return MainThread.pollStack(Thread.currentThread().getStackTrace());
    }

    /** Called when the main thread's stack shows a message that no hook reported. */
    static void messageUnseen() {
        MainHook.messageUnseen();
    }

    /**
     * Called when a report is written, or main has gone to rest. On the worker's thread.
     *
     * @param doubted whether the hook has missed the end of a message: the hook takes this message for
     *     running, but it is not on main's stack any more
     */
    static void checkHook(boolean doubted) {
        MainHook.check(doubted);
    }

    /**
     * Called when another process of the app has switched the recorder off. On the worker's thread, which
     * this call ends.
     */
    static void switchedOff() {
        Recorder.switchedOff();
    }

    /**
     * Passes an event on to the performance monitor, as long_messages.rs writes it. On the worker's thread.
     */
    static void onMonitor(String message) {
        MonitorThread.receive(message);
    }

    /**
     * Passes a report on. On a separate thread, which waits for no code of the app.
     *
     * @param path the path of the report's file; null for none
     * @param about {@link Native#COMPLETE}, {@link Native#FIRST_FILE}, {@link Native#PREVIOUS_RUNS_READ},
     *     {@link Native#WARNED}, {@link Native#SUSPECT}, or the number of the request that this answers
     */
    static void onReport(String path, long about) {
        try {
            if (about == Native.WARNED) {
                Listeners.onWarning(Digest.numbers(path.split(" ")), Recording.gate());
                return;
            }
            if (about == Native.SUSPECT) {
                SystemProfiles.suspected(path);
                return;
            }
            File file = path == null ? null : new File(path);
            if (about == Native.PREVIOUS_RUNS_READ) {
                Recorder.noteStart();
            } else if (about > 0) {
                AskedDumps.answer(about, file);
            } else {
                Listeners.onReport(file, about == Native.FIRST_FILE, Recording.gate());
            }
        } catch (Throwable fault) {
            Faults.log(fault);
        }
    }
}
