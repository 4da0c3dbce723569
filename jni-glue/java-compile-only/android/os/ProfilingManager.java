package android.os;

import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.Consumer;

/** Has the system take profiles of the app. Since API 35. */
public final class ProfilingManager {
    private ProfilingManager() {}

    public native void registerForAllProfilingResults(Executor executor, Consumer<ProfilingResult> listener);

    public native void unregisterForAllProfilingResults(Consumer<ProfilingResult> listener);

    /** Since API 36. */
    public native void addProfilingTriggers(List<ProfilingTrigger> triggers);

    /** Since API 36. */
    public native void removeProfilingTriggersByType(int[] types);

    /** Since API 36.1. */
    public native void requestRunningSystemTrace(String tag);
}
