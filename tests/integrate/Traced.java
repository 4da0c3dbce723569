package io.loopbox; // a Stall is made in its package alone

import android.os.Build;
import android.os.SystemClock;
import io.loopbox.integration.debug.LoopboxTrace;

/**
 * Passes the monitor's reports to {@link LoopboxTrace}, which puts them into a trace. Argument: the API
 * level.
 */
public final class Traced {
    private Traced() {}

    public static void main(String[] arguments) {
        Build.VERSION.SDK_INT = Integer.parseInt(arguments[0]);
        LoopboxTrace trace = new LoopboxTrace();
        SystemClock.now = 1_000;
        trace.onBlock(201, "com.example.Feed.load(Feed.java:7)\ncom.example.Feed.run(Feed.java:3)\n");
        // Of the message before, and that of the one that blocks.
        trace.onStall(stall(500, 120.4, "Handler com.example.Ad 1"));
        trace.onStall(stall(799, 700, "Handler com.example.Feed 0"));
        trace.onStall(stall(2_000, 130.6, "Handler com.example.Ad 2"));
        // Two without an end.
        trace.onBlock(200, "a.A.a");
        trace.onBlock(200, "b.B.b");
        StringBuilder name = new StringBuilder();
        for (int at = 0; at < 200; at++) {
            name.append('n');
        }
        trace.onBlock(200, name.toString());
    }

    private static Stall stall(long startUptimeMs, double wallMs, String message) {
        return new Stall(1, wallMs, startUptimeMs, 0, message, "", "", "");
    }
}
