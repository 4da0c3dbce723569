package android.view;

import android.content.Context;
import android.os.Handler;
import android.view.accessibility.AccessibilityEvent;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** A window's public surface: its callback, its decor view, and the listeners of its frames. */
public abstract class Window {
    /** All methods of the interface in API 29. */
    public interface Callback {
        boolean dispatchKeyEvent(KeyEvent event);

        boolean dispatchKeyShortcutEvent(KeyEvent event);

        boolean dispatchTouchEvent(MotionEvent event);

        boolean dispatchTrackballEvent(MotionEvent event);

        boolean dispatchGenericMotionEvent(MotionEvent event);

        boolean dispatchPopulateAccessibilityEvent(AccessibilityEvent event);

        View onCreatePanelView(int featureId);

        boolean onCreatePanelMenu(int featureId, Menu menu);

        boolean onPreparePanel(int featureId, View view, Menu menu);

        boolean onMenuOpened(int featureId, Menu menu);

        boolean onMenuItemSelected(int featureId, MenuItem item);

        void onWindowAttributesChanged(WindowManager.LayoutParams attributes);

        void onContentChanged();

        void onWindowFocusChanged(boolean hasFocus);

        void onAttachedToWindow();

        void onDetachedFromWindow();

        void onPanelClosed(int featureId, Menu menu);

        boolean onSearchRequested();

        boolean onSearchRequested(SearchEvent searchEvent);

        ActionMode onWindowStartingActionMode(ActionMode.Callback callback);

        ActionMode onWindowStartingActionMode(ActionMode.Callback callback, int type);

        void onActionModeStarted(ActionMode mode);

        void onActionModeFinished(ActionMode mode);

        default void onProvideKeyboardShortcuts(List<KeyboardShortcutGroup> data, Menu menu, int deviceId) {}

        default void onPointerCaptureChanged(boolean hasCapture) {}
    }

    /** The platform's type, as far as a testbed needs it. */
    public interface OnFrameMetricsAvailableListener {
        void onFrameMetricsAvailable(Window window, FrameMetrics frameMetrics, int dropCountSinceLastInvocation);
    }

    private final Context context;
    /** The listeners of FrameMetrics, each with its buffer. */
    final CopyOnWriteArrayList<TestFrameMetricsRing> frameMetrics = new CopyOnWriteArrayList<TestFrameMetricsRing>();

    private Callback callback;

    public Window(Context context) {
        this.context = context;
    }

    public final Context getContext() { return context; }
    public final Callback getCallback() { return callback; }
    public void setCallback(Callback callback) { this.callback = callback; }

    public abstract View getDecorView();

    public abstract View peekDecorView();

    /** The surface of this window: one each time it is shown. */
    public AttachedSurfaceControl getRootSurfaceControl() {
        return getDecorView().isAttachedToWindow() ? new TestCompositor(getDecorView()) : null;
    }

    public abstract void setContentView(View view);

    /** Passes an event on to the views of the window. The Activity handles what these do not. */
    public abstract boolean superDispatchTouchEvent(MotionEvent event);

    public abstract boolean superDispatchKeyEvent(KeyEvent event);

    public abstract boolean superDispatchGenericMotionEvent(MotionEvent event);

    public final void addOnFrameMetricsAvailableListener(OnFrameMetricsAvailableListener listener, Handler handler) {
        FrameMetricsObserver observer = new FrameMetricsObserver(this, handler.getLooper(), listener);
        frameMetrics.add(new TestFrameMetricsRing(observer, handler));
    }

    public final void removeOnFrameMetricsAvailableListener(OnFrameMetricsAvailableListener listener) {
        for (Iterator<TestFrameMetricsRing> all = frameMetrics.iterator(); all.hasNext(); ) {
            TestFrameMetricsRing ring = all.next();
            if (ring.observer.mListener == listener) {
                frameMetrics.remove(ring);
            }
        }
    }
}
