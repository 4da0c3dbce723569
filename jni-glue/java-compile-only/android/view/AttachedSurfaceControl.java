package android.view;

import java.util.concurrent.Executor;

/** Since API 31. */
public interface AttachedSurfaceControl {
    /** Since API 36. */
    SurfaceControl.OnJankDataListenerRegistration registerOnJankDataListener(
            Executor executor, SurfaceControl.OnJankDataListener listener);
}
