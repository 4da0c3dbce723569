// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal.hook;

import android.os.Handler;
import android.os.Looper;
import android.os.MessageQueue;
import android.os.SystemClock;
import io.loopbox.internal.platform.RecorderLog;
import io.loopbox.internal.recording.Native;
import java.lang.ref.WeakReference;

/**
 * Detects that another library has removed the hook. WebView's tracing, for example, sets the Looper's
 * Printer and later sets it to null.
 *
 * <p>When a queue becomes idle, it has dispatched a message since it was last idle. If the hook saw no
 * message begin in that time, Looper does not call the hook any more. An idle handler is enough to notice
 * this, without a message of ours or a hidden API. But another library may remove the idle handler as well.
 * So {@link #check(boolean)} also reads which object Looper calls in the hook's place: when main has gone to
 * rest, at each report and at each status. An object there that is not the hook may pass calls on to the
 * hook. If no earlier message has shown that it does, we post a message to find out. If the hook does not see
 * the posted message begin, that message installs the hook again, because only the main thread can do that.
 */
final class DisplacedWatch implements MessageQueue.IdleHandler, Runnable {
    /**
     * When the pause after a try would be longer than this, the hook is not installed again: the other
     * library sets its hook as persistently as we do.
     */
    private static final long GIVE_UP_MS = 3_600_000;

    final Hook hook;
    private boolean watched;
    private long begunAtIdle;
    private long pauseMs;
    private long notBeforeMs;

    /** Whether it was reported that the hook is displaced. */
    private volatile boolean off;

    /** Whether the hook is not put back any more. */
    private volatile boolean over;

    /** Whether our message waits in the queue. */
    private volatile boolean posted;

    /** How many messages the hook had seen begin when our message was posted. */
    private volatile long begunAtPost;

    /** Until this uptime, no new check is needed: the hook is known to be displaced. */
    private volatile long knownUntilMs;

    /** The object that was found in the hook's place, and that has passed its calls on to the hook. */
    private volatile WeakReference<Object> passesOn = new WeakReference<Object>(null);

    DisplacedWatch(Hook hook, long pauseMs) {
        this.hook = hook;
        this.pauseMs = pauseMs;
    }

    /** Begins to watch a hook that was installed, or installed again. On the main thread. */
    void begin() {
        watched = false;
        // A hook that was given up gets another chance; how often it is put back stays limited.
        over = false;
        off = false;
        knownUntilMs = 0;
        // Once, whatever has become of the list of idle handlers.
        end();
        Looper.myQueue().addIdleHandler(this);
        check(false);
    }

    /** Stops watching. On the main thread. */
    void end() {
        Looper.myQueue().removeIdleHandler(this);
    }

    @Override
    public boolean queueIdle() {
        try {
            if (!hook.active) {
                return false;
            }
            hook.idle();
            Native.rests();
            return !over && check();
        } catch (Throwable fault) {
            hook.fail(fault);
            return false;
        }
    }

    /** Called by the native worker when main runs a message that no hook saw. */
    void messageUnseen() {
        if (hook.active && !over && !posted && SystemClock.uptimeMillis() >= knownUntilMs) {
            Hook.doubt("displaced by another library until the next message");
            post(Native.begun());
        }
    }

    /**
     * Checks the hook's place. Any thread; takes the queue's lock only when the hook may be displaced.
     *
     * @param doubted whether the hook has missed the end of a message. If true, a message is posted even if
     *     the hook is found in its place. Whether the hook sees that message begin shows whether Looper still
     *     calls the hook
     */
    void check(boolean doubted) {
        if (!hook.active || over || posted) {
            return;
        }
        Object there = null;
        boolean seen = true;
        try {
            there = hook.there();
        } catch (Exception refused) {
            seen = false;
        }
        // After the check: what has begun later was passed on by what was found.
        long begun = Native.begun();
        if (!doubted && seen && hook.isOurs(there)) {
            if (off) {
                // The other library has put it back.
                Native.setUnseen();
                back();
            }
            return;
        }
        if (off && SystemClock.uptimeMillis() < knownUntilMs) {
            return;
        }
        boolean passed = !seen || there != null && there == passesOn.get();
        if (!doubted && !off) {
            int ran = Native.ranAtRest();
            // While a message runs that the hook has seen, it has seen all. The next check comes when main is
            // at rest. What has passed messages on may have stopped since: main ran, and none was seen.
            if (ran < 0 || passed && ran == 0) {
                return;
            }
            doubted = ran > 0;
        }
        if (doubted) {
            Hook.doubt("perhaps displaced by another library: not known before the next message");
        }
        post(begun);
    }

    private void post(long begun) {
        // Main may be in a message that no hook saw, and come to ours long after.
        Native.doubtHook();
        posted = true;
        begunAtPost = begun;
        if (!new Handler(Looper.getMainLooper()).postAtFrontOfQueue(this)) {
            posted = false;
        }
    }

    /** Runs as the message that is posted when the hook may be displaced. */
    @Override
    public void run() {
        posted = false;
        try {
            if (!hook.active || over) {
                // Decided while another thread was about to doubt the hook and to post this.
                Hook.repeatDecision();
                return;
            }
            // In the list that the queue has now.
            end();
            Looper.myQueue().addIdleHandler(this);
            if (Native.begun() == begunAtPost) {
                displaced();
                return;
            }
            passesOn = new WeakReference<Object>(placeOrNull());
            back();
        } catch (Throwable fault) {
            hook.fail(fault);
        }
    }

    private Object placeOrNull() {
        try {
            return hook.there();
        } catch (Exception refused) {
            return null;
        }
    }

    /** Reports that the hook is called again, or was called all the time. */
    private void back() {
        off = false;
        Hook.decide(true, hook.describe());
    }

    /**
     * Checks whether the hook has seen a message begin since the queue was last idle. If not, it is
     * displaced. Called when the queue is idle.
     *
     * @return whether to go on watching
     */
    private boolean check() {
        long now = Native.begun();
        boolean displaced = watched && begunAtIdle == now;
        watched = true;
        begunAtIdle = now;
        if (displaced) {
            return displaced();
        }
        if (off) {
            // The other library passes on to us, or is gone.
            back();
        }
        return true;
    }

    /**
     * The hook is displaced: notes that, and installs the hook again. It is not installed again during the
     * pause after the last try, nor when the pauses have become longer than {@link #GIVE_UP_MS}.
     *
     * @return whether to go on watching
     */
    private boolean displaced() {
        Native.setUnseen();
        long nowMs = SystemClock.uptimeMillis();
        if (nowMs < notBeforeMs) {
            off = true;
            knownUntilMs = notBeforeMs;
            Hook.decide(false, "displaced by another library until the next try; was " + hook.describe());
            return true;
        }
        boolean again = pauseMs <= GIVE_UP_MS && hook.armAgain();
        notBeforeMs = nowMs + pauseMs;
        pauseMs *= 2;
        off = false;
        Hook.decide(again, again ? hook.describe() : "displaced by another library; was " + hook.describe());
        RecorderLog.info("displaced; " + (again ? hook.describe() : "off"));
        if (again) {
            MainHook.endUnseen();
        }
        // Begin counting anew: the idle call before the next dispatch would seem another loss.
        watched = false;
        over = !again;
        return again;
    }
}
