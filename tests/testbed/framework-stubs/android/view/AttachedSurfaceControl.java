package android.view;

import java.util.concurrent.Executor;

/** As on a device, but only the part by which the compositor classifies frames. */
public interface AttachedSurfaceControl {
    SurfaceControl.OnJankDataListenerRegistration registerOnJankDataListener(
            Executor executor, SurfaceControl.OnJankDataListener listener);
}
