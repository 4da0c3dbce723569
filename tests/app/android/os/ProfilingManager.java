package android.os;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.Consumer;

/**
 * Hands out the profiles that the scripted app announces, and keeps them until a listener is registered. As
 * on Android 16 before its second quarterly release, the running trace cannot be requested.
 */
public final class ProfilingManager {
    private final List<ProfilingResult> undelivered;
    private final List<ProfilingTrigger> triggers = new ArrayList<ProfilingTrigger>();
    private Executor executor;
    private Consumer<ProfilingResult> listener;

    /** Creates the manager with results from earlier processes of the app. */
    public ProfilingManager(List<ProfilingResult> undelivered) {
        this.undelivered = undelivered;
    }

    public synchronized void registerForAllProfilingResults(Executor executor, Consumer<ProfilingResult> listener) {
        this.executor = executor;
        this.listener = listener;
        List<ProfilingResult> kept = new ArrayList<ProfilingResult>(undelivered);
        undelivered.clear();
        for (ProfilingResult result : kept) {
            deliver(result);
        }
    }

    public synchronized void unregisterForAllProfilingResults(Consumer<ProfilingResult> listener) {
        if (listener != this.listener) {
            throw new IllegalArgumentException("never registered");
        }
        this.listener = null;
    }

    public synchronized void addProfilingTriggers(List<ProfilingTrigger> added) {
        triggers.addAll(added);
        System.out.println("SCRIPT profile triggers " + triggers);
    }

    public synchronized void removeProfilingTriggersByType(int[] types) {
        for (int type : types) {
            for (ProfilingTrigger trigger : new ArrayList<ProfilingTrigger>(triggers)) {
                if (trigger.getTriggerType() == type) {
                    triggers.remove(trigger);
                }
            }
        }
        System.out.println("SCRIPT profile triggers " + triggers);
    }

    public void requestRunningSystemTrace(String tag) {
        throw new NoSuchMethodError("requestRunningSystemTrace");
    }

    /** Delivers a result from a thread of the system, as on a device. */
    public synchronized void deliver(final ProfilingResult result) {
        final Consumer<ProfilingResult> registered = listener;
        if (registered == null) {
            undelivered.add(result);
            return;
        }
        final Executor on = executor;
        Thread binder =
                new Thread("Binder:1_1") {
                    @Override
                    public void run() {
                        on.execute(
                                new Runnable() {
                                    @Override
                                    public void run() {
                                        registered.accept(result);
                                        System.out.println("SCRIPT profile delivered " + result.getResultFilePath());
                                    }
                                });
                    }
                };
        binder.start();
    }
}
