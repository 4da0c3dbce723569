// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal;

import android.app.ActivityManager;
import android.app.ApplicationExitInfo;
import android.app.ApplicationStartInfo;
import android.content.Context;
import android.os.Build;
import android.os.Debug;
import android.os.Process;
import android.util.Log;
import java.io.IOException;
import java.io.InputStream;
import java.util.List;

/** The framework of a device, by public API only. */
public final class ContextFramework implements Framework {
    private static final int ANDROID_11 = 30;
    private static final int ANDROID_15 = 35;

    private final Context context;

    public ContextFramework(Context context) {
        this.context = context;
    }

    @Override
    public String notResponding() {
        try {
            List<ActivityManager.ProcessErrorStateInfo> states = manager().getProcessesInErrorState();
            if (states == null) {
                return null;
            }
            for (ActivityManager.ProcessErrorStateInfo state : states) {
                // The list has every app's processes for callers that may see them.
                if (state.pid == Process.myPid()
                        && state.condition == ActivityManager.ProcessErrorStateInfo.NOT_RESPONDING) {
                    return state.shortMsg == null ? "" : state.shortMsg;
                }
            }
        } catch (RuntimeException dead) {
            // The system server restarts, or an isolated process may not ask.
            Log.i(Tag.LOOPBOX, "no error state: " + dead);
        }
        return null;
    }

    @Override
    public Exit[] exits() {
        if (Build.VERSION.SDK_INT < ANDROID_11) {
            return null;
        }
        try {
            return Since11.exits(manager());
        } catch (RuntimeException dead) {
            Log.i(Tag.LOOPBOX, "no exit reasons: " + dead);
            return null;
        }
    }

    @Override
    public String started() {
        if (Build.VERSION.SDK_INT < ANDROID_15) {
            return null;
        }
        try {
            return Since15.started(manager());
        } catch (RuntimeException dead) {
            Log.i(Tag.LOOPBOX, "no start reasons: " + dead);
            return null;
        }
    }

    @Override
    public boolean isDebugged() {
        return Debug.isDebuggerConnected();
    }

    private ActivityManager manager() {
        return (ActivityManager) context.getSystemService(Context.ACTIVITY_SERVICE);
    }

    /** Apart, so that older platforms never look at a class that they do not have. */
    private static final class Since11 {
        static Exit[] exits(ActivityManager manager) {
            List<ApplicationExitInfo> all = manager.getHistoricalProcessExitReasons(null, 0, 0);
            Exit[] exits = new Exit[all.size()];
            for (int at = 0; at < exits.length; at++) {
                ApplicationExitInfo exit = all.get(at);
                exits[at] =
                        new Exit(
                                exit.getPid(),
                                exit.getProcessName(),
                                exit.getTimestamp(),
                                exit.getReason(),
                                exit.getStatus(),
                                exit.getDescription(),
                                new Trace(exit));
            }
            return exits;
        }

        private static final class Trace implements Exit.Trace {
            private final ApplicationExitInfo exit;

            Trace(ApplicationExitInfo exit) {
                this.exit = exit;
            }

            @Override
            public InputStream open() throws IOException {
                return exit.getTraceInputStream();
            }
        }
    }

    /** Apart, as {@link Since11} is. */
    private static final class Since15 {
        /** Other processes of the app may have been started since. */
        private static final int MOST = 8;

        // By START_TYPE_* and START_REASON_*.
        private static final String[] TYPES = {"", "cold", "warm", "hot"};
        private static final String[] REASONS = {
            "alarm", "backup", "boot", "broadcast", "provider", "job", "launcher", "recents", "other", "push", "service", "activity"
        };

        static String started(ActivityManager manager) {
            for (ApplicationStartInfo start : manager.getHistoricalProcessStartReasons(MOST)) {
                if (start.getPid() == Process.myPid()) {
                    String type = word(TYPES, start.getStartType());
                    return (type.isEmpty() ? "" : type + ", ") + word(REASONS, start.getReason());
                }
            }
            return null;
        }

        private static String word(String[] words, int number) {
            return number >= 0 && number < words.length ? words[number] : String.valueOf(number);
        }
    }
}
