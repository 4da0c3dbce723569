// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal.platform;

import android.content.BroadcastReceiver;
import android.content.Context;
import android.content.Intent;
import android.content.IntentFilter;

/**
 * Waits for the user's first unlock of the device since it was started: before that an app cannot read its
 * files.
 */
public final class UserUnlock extends BroadcastReceiver {
    /**
     * {@code Intent.ACTION_USER_UNLOCKED}, since API 24. Below API 24, no device withholds files from a
     * running app.
     */
    private static final String ACTION = "android.intent.action.USER_UNLOCKED";

    /** Whether a receiver is registered. Used on the main thread only. */
    private static boolean isAwaited;

    private final Runnable then;

    private UserUnlock(Runnable then) {
        this.then = then;
    }

    /**
     * Runs {@code then} when the user unlocks the device. Of several calls only the first one counts. On the
     * main thread.
     */
    public static void await(Context context, Runnable then) {
        if (!isAwaited) {
            // A broadcast that only the system may send: no flag says who else may.
            context.registerReceiver(new UserUnlock(then), new IntentFilter(ACTION));
            isAwaited = true;
        }
    }

    @Override
    public void onReceive(Context context, Intent intent) {
        try {
            isAwaited = false;
            context.unregisterReceiver(this);
            then.run();
        } catch (Throwable fault) {
            Faults.log(fault);
        }
    }
}
