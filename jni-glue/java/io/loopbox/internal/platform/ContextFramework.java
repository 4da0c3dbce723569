// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal.platform;

import android.app.ActivityManager;
import android.app.AnrWarningResult;
import android.app.ApplicationExitInfo;
import android.app.ApplicationStartInfo;
import android.content.Context;
import android.os.Build;
import android.os.Debug;
import android.os.Process;
import android.os.ProfilingManager;
import android.os.ProfilingResult;
import android.os.ProfilingTrigger;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.Consumer;

/** The framework of a device, by public API only. */
public final class ContextFramework implements Framework {
    private static final int ANDROID_11 = 30;
    private static final int ANDROID_15 = 35;
    private static final int ANDROID_16 = 36;
    private static final int ANDROID_17 = 37;

    private final Context context;

    public ContextFramework(Context context) {
        this.context = context;
    }

    @Override
    public String notResponding() {
        // It throws while the system server restarts, and where an isolated process may not ask.
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
            RecorderLog.info("no exit reasons: " + dead);
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
            RecorderLog.info("no start reasons: " + dead);
            return null;
        }
    }

    @Override
    public Boolean isSeen() {
        try {
            ActivityManager.RunningAppProcessInfo own = new ActivityManager.RunningAppProcessInfo();
            ActivityManager.getMyMemoryState(own);
            // What has a visible Activity is in the foreground, on each level, but not while the screen is
            // dark.
            if (own.importance > ActivityManager.RunningAppProcessInfo.IMPORTANCE_FOREGROUND) {
                return false;
            }
            // A process that another one needs may be in the foreground for its sake, without an Activity.
            boolean isOwn = own.importanceReasonCode == ActivityManager.RunningAppProcessInfo.REASON_UNKNOWN;
            return isOwn ? Boolean.TRUE : null;
        } catch (RuntimeException dead) {
            // An isolated process may not ask, and the system may restart.
            RecorderLog.info("not known whether the app is in the foreground: " + dead);
            return null;
        }
    }

    @Override
    public boolean profile(int triggers, ProfileSink sink) {
        if (Build.VERSION.SDK_INT < ANDROID_16) {
            return false;
        }
        try {
            return Since16.profile(profiling(), triggers, sink);
        } catch (RuntimeException dead) {
            RecorderLog.info("no profiles: " + dead);
            return false;
        }
    }

    @Override
    public void traceNow(String tag) {
        if (Build.VERSION.SDK_INT < ANDROID_16) {
            return;
        }
        try {
            Since16.traceNow(profiling(), tag);
        } catch (RuntimeException dead) {
            RecorderLog.info("no trace of a hang: " + dead);
        } catch (LinkageError older) {
            // Android 16 before its second quarterly release. The class is of a module: it may be newer than
            // the system.
            RecorderLog.info("no trace of a hang: " + older);
        }
    }

    private ProfilingManager profiling() {
        return (ProfilingManager) context.getSystemService(Since16.SERVICE);
    }

    @Override
    public boolean warnOfAnrs(WarningSink sink) {
        if (Build.VERSION.SDK_INT < ANDROID_17) {
            return false;
        }
        try {
            return Since17.warnOfAnrs(manager(), sink);
        } catch (RuntimeException dead) {
            RecorderLog.info("no warnings of ANRs: " + dead);
            return false;
        }
    }

    @Override
    public boolean isDebugged() {
        return Debug.isDebuggerConnected();
    }

    private ActivityManager manager() {
        return (ActivityManager) context.getSystemService(Context.ACTIVITY_SERVICE);
    }

    /** A separate class, so that older platforms never load a class that they do not have. */
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
                                exit.getProcessStateSummary(),
                                Build.VERSION.SDK_INT < ANDROID_17 ? null : Since17.anr(exit),
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

    /** A separate class for the same reason as {@link Since11}. */
    private static final class Since15 {
        /**
         * The number of records to read. The first need not be this process's: other processes of the app may
         * have started after it.
         */
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

    /** A separate class for the same reason as {@link Since11}. */
    private static final class Since16 implements Consumer<ProfilingResult>, Executor {
        /** Context.PROFILING_SERVICE, which older SDKs do not have. */
        static final String SERVICE = "profiling";

        /**
         * The minimum time between two profiles that the system takes at one trigger, in hours. The system's
         * own limits apply, too.
         */
        private static final int ONCE_IN_HOURS = 1;

        private static Since16 registered;

        private final ProfileSink sink;
        private final int triggers;

        private Since16(ProfileSink sink, int triggers) {
            this.sink = sink;
            this.triggers = triggers;
        }

        static synchronized boolean profile(ProfilingManager manager, int triggers, ProfileSink sink) {
            if (manager == null) {
                return false;
            }
            if (registered != null) {
                Since16 ended = registered;
                registered = null;
                manager.unregisterForAllProfilingResults(ended);
                for (int type = 0; type < Integer.SIZE; type++) {
                    if (ended.isOf(type)) {
                        manager.removeProfilingTriggersByType(new int[] {type});
                    }
                }
            }
            if (sink == null) {
                return false;
            }
            List<ProfilingTrigger> known = new ArrayList<ProfilingTrigger>();
            int wanted = 0;
            for (int type = 0; type < Integer.SIZE; type++) {
                ProfilingTrigger trigger = (triggers >>> type & 1) == 0 ? null : trigger(type);
                if (trigger != null) {
                    known.add(trigger);
                    wanted |= 1 << type;
                }
            }
            Since16 begun = new Since16(sink, wanted);
            // First: the results of earlier processes come at once.
            manager.registerForAllProfilingResults(begun, begun);
            registered = begun;
            manager.addProfilingTriggers(known);
            return true;
        }

        /** The trigger of this type; null when this system does not know the type. */
        private static ProfilingTrigger trigger(int type) {
            // The recorder itself spaces its requests for the running trace.
            int hours = type == ProfileSink.RUNNING_TRACE ? 0 : ONCE_IN_HOURS;
            try {
                return new ProfilingTrigger.Builder(type).setRateLimitingPeriodHours(hours).build();
            } catch (IllegalArgumentException unknown) {
                RecorderLog.info("no profiles at trigger " + type + ": " + unknown);
                return null;
            }
        }

        static synchronized void traceNow(ProfilingManager manager, String tag) {
            if (manager != null && registered != null && registered.isOf(ProfileSink.RUNNING_TRACE)) {
                manager.requestRunningSystemTrace(tag);
            }
        }

        private boolean isOf(int type) {
            return type >= 0 && type < Integer.SIZE && (triggers >>> type & 1) != 0;
        }

        /**
         * Runs a task that delivers a result. Called on a Binder thread; the task may write a line to a file.
         */
        @Override
        public void execute(Runnable task) {
            task.run();
        }

        @Override
        public void accept(ProfilingResult result) {
            String path = result.getResultFilePath();
            // The app's own requests, and its other triggers, have their results here too.
            if (isOf(result.getTriggerType()) && result.getErrorCode() == ProfilingResult.ERROR_NONE && path != null) {
                sink.onProfile(result.getTriggerType(), result.getTag(), path);
            }
        }
    }

    /** A separate class for the same reason as {@link Since11}. */
    private static final class Since17 implements Consumer<AnrWarningResult>, Executor {
        private static Since17 registered;

        private final WarningSink sink;

        private Since17(WarningSink sink) {
            this.sink = sink;
        }

        static synchronized boolean warnOfAnrs(ActivityManager manager, WarningSink sink) {
            if (registered != null) {
                manager.unregisterAnrWarningListener(registered);
                registered = null;
            }
            if (sink != null) {
                Since17 wanted = new Since17(sink);
                manager.registerAnrWarningListener(wanted, wanted);
                registered = wanted;
            }
            return sink != null;
        }

        /**
         * The ANR's id, its type, its time-out in ms, and 1 if the user could notice the ANR, otherwise 0.
         * Null where no timer of the system has triggered the ANR, as for a window that does not take its
         * input.
         */
        static long[] anr(ApplicationExitInfo exit) {
            ApplicationExitInfo.AnrInfo info = exit.getAnrInfo();
            if (info == null) {
                return null;
            }
            return new long[] {info.getAnrId(), info.getAnrType(), info.getTimeoutMillis(), info.isUserPerceptible() ? 1 : 0};
        }

        /** Runs a task that delivers a warning. Called on a Binder thread, which the sink must not block. */
        @Override
        public void execute(Runnable task) {
            task.run();
        }

        @Override
        public void accept(AnrWarningResult warning) {
            try {
                sink.onWarning(
                        warning.getAnrId(), warning.getAnrType(), warning.getConsumedMillis(), warning.getTimeoutMillis());
            } catch (Throwable fault) {
                // The system would end the process.
                Faults.log(fault);
            }
        }
    }
}
