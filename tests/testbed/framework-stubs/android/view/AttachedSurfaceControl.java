package android.view;

import java.util.concurrent.Executor;

/** The part of the platform's interface that registers listeners for the compositor's jank types. */
public interface AttachedSurfaceControl {
    SurfaceControl.OnJankDataListenerRegistration registerOnJankDataListener(
            Executor executor, SurfaceControl.OnJankDataListener listener);
}
