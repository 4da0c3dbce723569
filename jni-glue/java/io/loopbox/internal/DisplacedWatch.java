// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal;

import android.os.Handler;
import android.os.Looper;
import android.os.MessageQueue;
import android.os.SystemClock;
import android.util.Log;

/**
 * Notices when another library took the hook out: WebView's tracing, for one, sets the Looper's Printer and later
 * nulls it. A queue that becomes idle has dispatched a message since it was idle before; when the hook saw none begin,
 * it is not called any more. That needs no message of its own and no hidden API. For a queue that never becomes idle, a
 * stack of the main thread shows a message; only then one is posted, because the hook is the main thread's.
 */
final class DisplacedWatch implements MessageQueue.IdleHandler, Runnable {
    /** From that pause on it is pointless: someone else sets theirs as stubbornly as we do. */
    private static final long GIVE_UP_MS = 3_600_000;

    private final Hook hook;
    private boolean watched;
    private long begun;
    private long pauseMs;
    private long notBeforeMs;

    /** It was reported that the hook is displaced. */
    private boolean off;

    /** We do not try any more. */
    private volatile boolean over;

    /** Our message waits in the queue. */
    private volatile boolean posted;

    /** Until then a message that no hook saw is no news. */
    private volatile long knownUntilMs;

    DisplacedWatch(Hook hook, long pauseMs) {
        this.hook = hook;
        this.pauseMs = pauseMs;
    }

    @Override
    public boolean queueIdle() {
        try {
            return hook.active && !over && look();
        } catch (Throwable fault) {
            hook.fail(fault);
            return false;
        }
    }

    /** A message runs that no hook saw. For the native worker. */
    void messageUnseen() {
        if (hook.active && !over && !posted && SystemClock.uptimeMillis() >= knownUntilMs) {
            Native.setHook(false, "displaced by another library until the next message");
            posted = true;
            if (!new Handler(Looper.getMainLooper()).postAtFrontOfQueue(this)) {
                posted = false;
            }
        }
    }

    /** The message that {@link #messageUnseen} posts. */
    @Override
    public void run() {
        posted = false;
        try {
            if (hook.active && !over) {
                displaced();
            }
        } catch (Throwable fault) {
            hook.fail(fault);
        }
    }

    /** @return whether to go on watching */
    private boolean look() {
        long now = Native.begun();
        boolean displaced = watched && begun == now;
        watched = true;
        begun = now;
        if (displaced) {
            return displaced();
        }
        if (off) {
            // The other library passes on to us, or is gone.
            off = false;
            Native.setHook(true, hook.describe());
        }
        return true;
    }

    /** @return whether to go on watching */
    private boolean displaced() {
        Native.setUnseen();
        long nowMs = SystemClock.uptimeMillis();
        if (nowMs < notBeforeMs) {
            off = true;
            knownUntilMs = notBeforeMs;
            Native.setHook(false, "displaced by another library until the next try; was " + hook.describe());
            return true;
        }
        notBeforeMs = nowMs + pauseMs;
        pauseMs *= 2;
        off = false;
        boolean again = pauseMs <= GIVE_UP_MS && hook.armAgain();
        Native.setHook(again, again ? hook.describe() : "displaced by another library; was " + hook.describe());
        Log.i(Tag.LOOPBOX, "displaced; " + (again ? hook.describe() : "off"));
        // Begin counting anew: the idle call before the next dispatch would look like another loss.
        watched = false;
        over = !again;
        return again;
    }
}
