package android.app;

import android.content.Context;
import android.content.ContextWrapper;
import android.os.Bundle;
import android.view.ActionMode;
import android.view.KeyEvent;
import android.view.Menu;
import android.view.MenuItem;
import android.view.MotionEvent;
import android.view.SearchEvent;
import android.view.TestViewRoot;
import android.view.View;
import android.view.Window;
import android.view.WindowManager;
import android.view.accessibility.AccessibilityEvent;
import com.android.internal.policy.PhoneWindow;

/**
 * A screen of an app. {@link ActivityThread} starts it, or {@link Application} in scenarios that start no
 * app.
 */
public class Activity extends ContextWrapper implements Window.Callback, KeyEvent.Callback {
    private Window window;
    private boolean finishing;
    boolean changingConfigurations;

    public Activity() {
        super(null);
    }

    final void attach(Context context) {
        attachBaseContext(context);
        window = new PhoneWindow(this);
        window.setCallback(this);
    }

    final void performCreate(Bundle state) {
        onCreate(state);
    }

    /** The window is shown from its next frame on. */
    final void makeVisible() {
        new TestViewRoot(window);
    }

    protected void onCreate(Bundle state) {}

    protected void onStart() {}

    protected void onResume() {}

    public void finish() {
        finishing = true;
    }

    public boolean isFinishing() {
        return finishing;
    }

    public boolean isChangingConfigurations() {
        return changingConfigurations;
    }

    public Window getWindow() {
        return window;
    }

    public void setContentView(View view) {
        window.setContentView(view);
    }

    public boolean onTouchEvent(MotionEvent event) {
        return false;
    }

    public boolean onGenericMotionEvent(MotionEvent event) {
        return false;
    }

    @Override
    public boolean dispatchTouchEvent(MotionEvent event) {
        return window.superDispatchTouchEvent(event) || onTouchEvent(event);
    }

    @Override
    public boolean dispatchGenericMotionEvent(MotionEvent event) {
        return window.superDispatchGenericMotionEvent(event) || onGenericMotionEvent(event);
    }

    @Override
    public boolean dispatchKeyEvent(KeyEvent event) {
        return window.superDispatchKeyEvent(event) || event.dispatch(this);
    }

    // The rest of what a window and a key can say: nothing follows from it here.

    @Override
    public boolean onKeyDown(int keyCode, KeyEvent event) {
        return false;
    }

    @Override
    public boolean onKeyLongPress(int keyCode, KeyEvent event) {
        return false;
    }

    @Override
    public boolean onKeyUp(int keyCode, KeyEvent event) {
        return false;
    }

    @Override
    public boolean onKeyMultiple(int keyCode, int count, KeyEvent event) {
        return false;
    }

    @Override
    public boolean dispatchKeyShortcutEvent(KeyEvent event) {
        return false;
    }

    @Override
    public boolean dispatchTrackballEvent(MotionEvent event) {
        return false;
    }

    @Override
    public boolean dispatchPopulateAccessibilityEvent(AccessibilityEvent event) {
        return false;
    }

    @Override
    public View onCreatePanelView(int featureId) {
        return null;
    }

    @Override
    public boolean onCreatePanelMenu(int featureId, Menu menu) {
        return false;
    }

    @Override
    public boolean onPreparePanel(int featureId, View view, Menu menu) {
        return false;
    }

    @Override
    public boolean onMenuOpened(int featureId, Menu menu) {
        return false;
    }

    @Override
    public boolean onMenuItemSelected(int featureId, MenuItem item) {
        return false;
    }

    @Override
    public void onWindowAttributesChanged(WindowManager.LayoutParams attributes) {}

    @Override
    public void onContentChanged() {}

    @Override
    public void onWindowFocusChanged(boolean hasFocus) {}

    @Override
    public void onAttachedToWindow() {}

    @Override
    public void onDetachedFromWindow() {}

    @Override
    public void onPanelClosed(int featureId, Menu menu) {}

    @Override
    public boolean onSearchRequested() {
        return false;
    }

    @Override
    public boolean onSearchRequested(SearchEvent event) {
        return false;
    }

    @Override
    public ActionMode onWindowStartingActionMode(ActionMode.Callback callback) {
        return null;
    }

    @Override
    public ActionMode onWindowStartingActionMode(ActionMode.Callback callback, int type) {
        return null;
    }

    @Override
    public void onActionModeStarted(ActionMode mode) {}

    @Override
    public void onActionModeFinished(ActionMode mode) {}
}
