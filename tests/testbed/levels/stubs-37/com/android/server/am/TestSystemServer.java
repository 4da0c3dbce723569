package com.android.server.am;

import android.app.ActivityManager;
import android.app.IActivityManager;
import android.app.IAnrWarningCallback;
import android.os.Process;
import android.util.Singleton;
import java.lang.reflect.Field;
import java.util.UUID;

/**
 * The server side of this API level's ActivityManager, with the system server's real controller of warnings.
 */
public final class TestSystemServer implements IActivityManager {
    private final AnrWarningController controller = new AnrWarningController();

    /** How many listeners are registered. */
    public int registered;

    /** Makes this process's ActivityManagers call this server. */
    public void begin() throws ReflectiveOperationException {
        Field singleton = ActivityManager.class.getDeclaredField("IActivityManagerSingleton");
        singleton.setAccessible(true);
        Field instance = Singleton.class.getDeclaredField("mInstance");
        instance.setAccessible(true);
        instance.set(singleton.get(null), this);
    }

    @Override
    public void registerAnrWarningListener(IAnrWarningCallback callback) {
        controller.registerAnrWarningListener(Process.myUid(), callback);
        registered++;
    }

    @Override
    public void unregisterAnrWarningListener(IAnrWarningCallback callback) {
        controller.unregisterAnrWarningListener(Process.myUid(), callback);
        registered--;
    }

    /**
     * Warns as the system does when an ANR timer of this app has run for the part of its time after which the
     * system warns.
     */
    public void warn(int id, int type, long consumedMs, long timeoutMs) {
        controller.notifyAnrWarning(Process.myUid(), id, new UUID(id, type), type, consumedMs, timeoutMs, "");
    }
}
