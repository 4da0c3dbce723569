// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal.platform;

import android.os.Build;
import android.os.StrictMode;

/**
 * What the app's StrictMode forbids the calling thread. While the recorder does on it what is the recorder's
 * own choice and no mistake of the app, that is allowed, and not reported. The app's own policy is back
 * afterwards.
 */
public final class AppPolicy {
    private static final int ANDROID_17 = 37;

    private final StrictMode.ThreadPolicy own;

    private AppPolicy(StrictMode.ThreadPolicy own) {
        this.own = own;
    }

    /** Files of the recorder are read and written. Follow it with {@link #restore} in a finally. */
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
     * A Printer is set, which Android 17 counts among slow calls. Follow it with {@link #restore} in a
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

    /** @param policy what one of the others has returned; null where nothing was allowed */
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
