// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal.platform;

import android.os.Handler;
import android.os.Looper;

/** The app's main Looper, and how to run something on its thread. Any thread. */
public final class MainLooper {
    private MainLooper() {}

    /** Whether the caller is on the main thread. */
    public static boolean isCurrent() {
        return Looper.myLooper() != null && Looper.myLooper() == Looper.getMainLooper();
    }

    /** Runs {@code what} on the main thread: at once, when this is the main thread. */
    public static void run(Runnable what) {
        if (isCurrent()) {
            what.run();
        } else {
            post(what);
        }
    }

    /** Runs {@code what} as a message of the main thread. */
    public static void post(Runnable what) {
        new Handler(Looper.getMainLooper()).post(what);
    }
}
