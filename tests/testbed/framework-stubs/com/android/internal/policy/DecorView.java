package com.android.internal.policy;

import android.content.Context;
import android.view.KeyEvent;
import android.view.MotionEvent;
import android.view.ViewGroup;
import android.view.Window;

/** The topmost view of a window. Its events go to the window's callback first, as on a device. */
public final class DecorView extends ViewGroup {
    private final Window window;

    DecorView(Context context, Window window) {
        super(context);
        this.window = window;
    }

    @Override
    public boolean dispatchTouchEvent(MotionEvent event) {
        Window.Callback callback = window.getCallback();
        return callback != null ? callback.dispatchTouchEvent(event) : super.dispatchTouchEvent(event);
    }

    @Override
    public boolean dispatchKeyEvent(KeyEvent event) {
        Window.Callback callback = window.getCallback();
        return callback != null ? callback.dispatchKeyEvent(event) : super.dispatchKeyEvent(event);
    }

    @Override
    public boolean dispatchGenericMotionEvent(MotionEvent event) {
        Window.Callback callback = window.getCallback();
        return callback != null
                ? callback.dispatchGenericMotionEvent(event)
                : super.dispatchGenericMotionEvent(event);
    }

    boolean superDispatchTouchEvent(MotionEvent event) { return super.dispatchTouchEvent(event); }
    boolean superDispatchKeyEvent(KeyEvent event) { return super.dispatchKeyEvent(event); }
    boolean superDispatchGenericMotionEvent(MotionEvent event) { return super.dispatchGenericMotionEvent(event); }
}
