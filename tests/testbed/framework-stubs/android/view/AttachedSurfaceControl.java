package android.view;

import java.util.concurrent.Executor;

/** The part of the platform's interface by which the compositor classifies frames. */
public interface AttachedSurfaceControl {
    SurfaceControl.OnJankDataListenerRegistration registerOnJankDataListener(
            Executor executor, SurfaceControl.OnJankDataListener listener);
}
