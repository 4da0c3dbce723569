package android.view;

import android.content.Context;
import android.os.Handler;

/**
 * The part of android.view.Window that the recorder uses. Since API 24 a window has listeners for the metrics
 * of its frames.
 */
public abstract class Window {
    /** Only its type is used. */
    public interface Callback {}

    /** Since API 24. */
    public interface OnFrameMetricsAvailableListener {
        void onFrameMetricsAvailable(Window window, FrameMetrics frameMetrics, int dropCountSinceLastInvocation);
    }

    Window() {}

    public final Context getContext() {
        throw new UnsupportedOperationException();
    }

    public final Callback getCallback() {
        throw new UnsupportedOperationException();
    }

    public void setCallback(Callback callback) {
        throw new UnsupportedOperationException();
    }

    public abstract View getDecorView();

    public abstract View peekDecorView();

    /** Since API 31. */
    public AttachedSurfaceControl getRootSurfaceControl() {
        throw new UnsupportedOperationException();
    }

    public final void addOnFrameMetricsAvailableListener(OnFrameMetricsAvailableListener listener, Handler handler) {
        throw new UnsupportedOperationException();
    }

    public final void removeOnFrameMetricsAvailableListener(OnFrameMetricsAvailableListener listener) {
        throw new UnsupportedOperationException();
    }
}
