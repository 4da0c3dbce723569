package android.view;

import java.util.concurrent.Executor;

/** As on a device, as far as the compositor's word on frames goes. */
public interface AttachedSurfaceControl {
    SurfaceControl.OnJankDataListenerRegistration registerOnJankDataListener(
            Executor executor, SurfaceControl.OnJankDataListener listener);
}
