package android.app;

import android.os.Binder;

/** The system server is not there to call it. */
public interface IBackgroundActivityLaunchCallback {
    class Stub extends Binder implements IBackgroundActivityLaunchCallback {}
}
