package android.app;

import android.os.Binder;

/** Without methods: a testbed has no system server that would call them. */
public interface IBackgroundActivityLaunchCallback {
    class Stub extends Binder implements IBackgroundActivityLaunchCallback {}
}
