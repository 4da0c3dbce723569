// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal.platform;

import android.os.Build;
import android.os.StrictMode;

/**
 * The app's StrictMode policy of the calling thread. What the recorder chooses to do on this thread is not
 * the app's mistake. So the policy is changed to allow it, without a report, and is restored afterwards.
 */
public final class AppPolicy {
    private static final int ANDROID_17 = 37;

    private final StrictMode.ThreadPolicy own;

    private AppPolicy(StrictMode.ThreadPolicy own) {
        this.own = own;
    }

    /** Allows to read and write files of the recorder. Follow it with {@link #restore} in a finally. */
    public static AppPolicy allowDisk() {
        try {
            // Reads, too.
            return new AppPolicy(StrictMode.allowThreadDiskWrites());
        } catch (Throwable fault) {
            Faults.log(fault);
            return null;
        }
    }

    /**
     * Allows to set a Printer, which Android 17 counts as a slow call. Follow it with {@link #restore} in a
     * finally.
     */
    public static AppPolicy allowPrinter() {
        if (Build.VERSION.SDK_INT < ANDROID_17) {
            return null;
        }
        try {
            StrictMode.ThreadPolicy own = StrictMode.getThreadPolicy();
            StrictMode.setThreadPolicy(new StrictMode.ThreadPolicy.Builder(own).permitCustomSlowCalls().build());
            return new AppPolicy(own);
        } catch (Throwable fault) {
            Faults.log(fault);
            return null;
        }
    }

    /**
     * Restores the app's policy.
     *
     * @param policy the result of one of the methods above; null where nothing was allowed
     */
    public static void restore(AppPolicy policy) {
        try {
            if (policy != null) {
                StrictMode.setThreadPolicy(policy.own);
            }
        } catch (Throwable fault) {
            Faults.log(fault);
        }
    }
}
