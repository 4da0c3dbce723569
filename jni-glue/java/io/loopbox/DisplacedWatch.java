// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox;

import android.os.MessageQueue;
import android.os.SystemClock;
import android.util.Log;

/**
 * Notices when another library took our hook out: WebView's tracing, for one, sets the Looper's Printer and later
 * nulls it. A queue that becomes idle has dispatched a message since it was idle before; when we saw none begin,
 * ours is not called any more. Needs no message of its own and no hidden API.
 */
final class DisplacedWatch implements MessageQueue.IdleHandler {
    /** From that pause on it is pointless: someone else sets theirs as stubbornly as we do. */
    private static final long GIVE_UP_MS = 3_600_000;

    private final Hook hook;
    private boolean watched;
    private long begun;
    private long pauseMs;
    private long notBeforeMs;

    /** We said that the hook is displaced. */
    private boolean off;

    DisplacedWatch(Hook hook, long pauseMs) {
        this.hook = hook;
        this.pauseMs = pauseMs;
    }

    @Override
    public boolean queueIdle() {
        try {
            return hook.active && look();
        } catch (Throwable fault) {
            hook.fail(fault);
            return false;
        }
    }

    /** @return whether to go on watching */
    private boolean look() {
        long now = Native.begun();
        boolean displaced = watched && begun == now;
        watched = true;
        begun = now;
        if (!displaced) {
            if (off) {
                // The other library passes on to us, or is gone.
                off = false;
                Native.setHook(true, hook.describe());
            }
            return true;
        }
        Native.setUnseen();
        long nowMs = SystemClock.uptimeMillis();
        if (nowMs < notBeforeMs) {
            off = true;
            Native.setHook(false, "displaced by another library until the next try; was " + hook.describe());
            return true;
        }
        notBeforeMs = nowMs + pauseMs;
        pauseMs *= 2;
        off = false;
        boolean again = pauseMs <= GIVE_UP_MS && hook.armAgain();
        Native.setHook(again, again ? hook.describe() : "displaced by another library; was " + hook.describe());
        Log.i(Loopbox.TAG, "displaced; " + (again ? hook.describe() : "off"));
        // Begin counting anew: the idle call before the next dispatch would look like another loss.
        watched = false;
        return again;
    }
}
