// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.integration.debug;

import android.os.Build;
import android.os.SystemClock;
import android.os.Trace;
import io.loopbox.MonitorListener;
import io.loopbox.Stall;

/**
 * Shows the main thread's long messages in a Perfetto trace that is being recorded, on Android 10 and newer,
 * as asynchronous sections of the process. To use this class, pass an instance to {@code
 * MonitorConfig.Builder.listener}. A section cannot begin in the past. So it begins when the message is
 * {@code blockMs} old. Its name has the method that main was in, and how long the message had run by then. A
 * message that ends earlier gets a section without length at its end, with the message's name and duration.
 * {@code blockMs} must not be less than the lowest of {@code levelsMs}: otherwise a section has no end when
 * its message reaches no level.
 */
public final class LoopboxTrace implements MonitorListener {
    /** Longer names are cut by older versions of the platform, or refused. */
    private static final int MOST_CHARS = 127;

    private static final int ANDROID_10 = 29;

    /** The name of the message that blocks, or null; on the monitor's thread only. */
    private String open;

    private long openedMs;
    private int openCookie;
    private int cookies;

    @Override
    public void onBlock(long ageMs, String stack) {
        if (Build.VERSION.SDK_INT < ANDROID_10) {
            return;
        }
        end();
        int line = stack.indexOf('\n');
        openedMs = SystemClock.uptimeMillis();
        open = cut("main blocks, after " + ageMs + " ms: " + (line < 0 ? stack : stack.substring(0, line)));
        openCookie = ++cookies;
        Trace.beginAsyncSection(open, openCookie);
    }

    @Override
    public void onStall(Stall stall) {
        if (Build.VERSION.SDK_INT < ANDROID_10) {
            return;
        }
        // It may be the one before, which is heard of when the next one blocks already.
        if (open != null && stall.getStartUptimeMs() + stall.getWallMs() >= openedMs) {
            end();
            return;
        }
        String name = cut("main took " + Math.round(stall.getWallMs()) + " ms: " + stall.getMessage());
        Trace.beginAsyncSection(name, ++cookies);
        Trace.endAsyncSection(name, cookies);
    }

    private void end() {
        if (open != null) {
            Trace.endAsyncSection(open, openCookie);
            open = null;
        }
    }

    private static String cut(String name) {
        return name.length() > MOST_CHARS ? name.substring(0, MOST_CHARS) : name;
    }
}
