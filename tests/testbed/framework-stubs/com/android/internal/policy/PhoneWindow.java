package com.android.internal.policy;

import android.content.Context;
import android.view.KeyEvent;
import android.view.MotionEvent;
import android.view.View;
import android.view.Window;

/** The window of an Activity: a decor view with the app's content in it. */
public final class PhoneWindow extends Window {
    private final DecorView decor;

    public PhoneWindow(Context context) {
        super(context);
        decor = new DecorView(context, this);
    }

    @Override public View getDecorView() { return decor; }
    @Override public View peekDecorView() { return decor; }

    @Override
    public void setContentView(View view) {
        decor.removeAllViews();
        decor.addView(view);
        if (getCallback() != null) {
            getCallback().onContentChanged();
        }
    }

    @Override public boolean superDispatchTouchEvent(MotionEvent event) { return decor.superDispatchTouchEvent(event); }
    @Override public boolean superDispatchKeyEvent(KeyEvent event) { return decor.superDispatchKeyEvent(event); }

    @Override
    public boolean superDispatchGenericMotionEvent(MotionEvent event) {
        return decor.superDispatchGenericMotionEvent(event);
    }
}
