package android.os;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The other side of the level's ProfilingManager: the service of the profiling module. It takes no profiles;
 * a test says which were taken, and they go to the callbacks that are registered at that moment. Like the
 * module's own service it refuses a request for the running trace when the app has not registered the trigger
 * of that request.
 */
public final class TestProfilingService extends IProfilingService.Stub {
    private final Map<Integer, Integer> triggers = new TreeMap<Integer, Integer>();
    private final List<IProfilingResultCallback> callbacks = new ArrayList<IProfilingResultCallback>();

    /** Makes this process's ProfilingManagers call this service. */
    public void begin() {
        ServiceManager.SERVICES.put("profiling_service", this);
        ProfilingFrameworkInitializer.setProfilingServiceManager(new ProfilingServiceManager());
    }

    /**
     * Reports to the app that a profile was taken: its trigger, its tag, and its file in the app's folder for
     * profiles. Calls back on a thread of Binder.
     */
    public void deliver(final int trigger, final String tag, final String file) {
        final List<IProfilingResultCallback> all;
        synchronized (this) {
            all = new ArrayList<IProfilingResultCallback>(callbacks);
        }
        new Thread("Binder:1_2") {
            @Override
            public void run() {
                try {
                    for (IProfilingResultCallback each : all) {
                        each.sendResult("/profiling/" + file, 1, 2, ProfilingResult.ERROR_NONE, tag, null, trigger);
                    }
                    System.out.println("SCRIPT delivered " + file);
                } catch (RemoteException never) {
                    throw new IllegalStateException(never);
                }
            }
        }.start();
    }

    @Override
    public synchronized void registerResultsCallback(boolean isGeneral, IProfilingResultCallback callback) {
        callbacks.add(callback);
    }

    @Override
    public void generalListenerAdded() {}

    @Override
    public synchronized void addProfilingTriggers(List<ProfilingTriggerValueParcel> added, String packageName) {
        for (ProfilingTriggerValueParcel trigger : added) {
            triggers.put(trigger.triggerType, trigger.rateLimitingPeriodHours);
        }
        System.out.println("SCRIPT triggers " + triggers + " of " + packageName);
    }

    @Override
    public synchronized void removeProfilingTriggers(int[] types, String packageName) {
        for (int type : types) {
            triggers.remove(type);
        }
        System.out.println("SCRIPT triggers " + triggers + " of " + packageName);
    }

    @Override
    public synchronized void processTrigger(
            int uid, String packageName, int type, String tag, IProfilingTriggerCallback callback) {
        String what = triggers.containsKey(type) ? "asked for" : "refused";
        System.out.println("SCRIPT " + what + " " + type + " of " + packageName + " " + tag);
    }

    @Override
    public synchronized boolean isTriggerRegistered(int uid, String packageName, int type) {
        return triggers.containsKey(type);
    }

    // What the recorder does not ask for.

    @Override
    public void requestProfiling(int type, Bundle parameters, String tag, long most, long least, String packageName) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void requestCancel(long most, long least) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void receiveFileDescriptor(ParcelFileDescriptor file, long most, long least) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void addAllProfilingTriggers(String packageName) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void clearProfilingTriggers(String packageName) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void stopActiveProfiling(int uid, String packageName, int type) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void registerAnomalyCallback(IProfilingAnomalyCallback callback) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void sendAnomalyProfile(
            long most, long least, int uid, String packageName, int type, String path, String tag) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void collectAnomalyProfile(
            long most, long least, int uid, String packageName, int type, int trigger, boolean fresh, String tag, Bundle parameters) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void notifyResultDelivered(long most, long least) {}
}
