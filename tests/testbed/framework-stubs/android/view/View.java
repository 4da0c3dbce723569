package android.view;

import android.content.Context;
import android.graphics.Canvas;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * A view with its timing only: its callbacks are called where and when a device calls them. It has no place
 * and no appearance.
 */
public class View implements KeyEvent.Callback {
    /** The platform's type, as far as a testbed needs it. */
    public interface OnTouchListener {
        boolean onTouch(View view, MotionEvent event);
    }

    /** The platform's type, as far as a testbed needs it. */
    public interface OnAttachStateChangeListener {
        void onViewAttachedToWindow(View view);

        void onViewDetachedFromWindow(View view);
    }

    private final Context context;
    private final CopyOnWriteArrayList<OnAttachStateChangeListener> attachListeners =
            new CopyOnWriteArrayList<OnAttachStateChangeListener>();
    ViewGroup parent;
    /** The root of the view's window. Only the topmost view has one, while its window is shown. */
    TestViewRoot root;
    /**
     * The observer of the views below this one. Only the topmost view has one, while its window is not shown
     * yet.
     */
    private ViewTreeObserver floatingObserver;

    private OnTouchListener onTouch;
    private int scrollX;
    private int scrollY;

    public View(Context context) {
        this.context = context;
    }

    private View topmost() {
        View view = this;
        while (view.parent != null) {
            view = view.parent;
        }
        return view;
    }

    public final Context getContext() { return context; }

    public ViewTreeObserver getViewTreeObserver() {
        View top = topmost();
        if (top.root != null) {
            return top.root.observer;
        }
        if (top.floatingObserver == null) {
            top.floatingObserver = new ViewTreeObserver(context);
        }
        return top.floatingObserver;
    }

    /**
     * Moves the listeners of this view's own observer to the observer of its window, which calls them from
     * now on.
     */
    final void mergeObserverInto(ViewTreeObserver observer) {
        if (floatingObserver != null) {
            observer.merge(floatingObserver);
            floatingObserver = null;
        }
    }

    public boolean isAttachedToWindow() { return topmost().root != null; }

    /** True in each window that is shown: it has a render thread. */
    public boolean isHardwareAccelerated() { return isAttachedToWindow(); }

    public void addOnAttachStateChangeListener(OnAttachStateChangeListener listener) { attachListeners.add(listener); }

    public void removeOnAttachStateChangeListener(OnAttachStateChangeListener listener) {
        attachListeners.remove(listener);
    }

    /** Notifies this view that its window is shown. Called on the topmost view. */
    final void dispatchAttachedToWindow() {
        for (OnAttachStateChangeListener listener : attachListeners) {
            listener.onViewAttachedToWindow(this);
        }
    }

    /** Notifies this view that its window leaves the screen. Called on the topmost view. */
    final void dispatchDetachedFromWindow() {
        for (OnAttachStateChangeListener listener : attachListeners) {
            listener.onViewDetachedFromWindow(this);
        }
    }

    public void invalidate() {
        TestViewRoot root = topmost().root;
        if (root != null) {
            root.invalidate();
        }
    }

    public void postInvalidateOnAnimation() { invalidate(); }

    public void requestLayout() {
        TestViewRoot root = topmost().root;
        if (root != null) {
            root.requestLayout();
        }
    }

    public int getScrollX() { return scrollX; }
    public int getScrollY() { return scrollY; }

    public void scrollTo(int x, int y) {
        if (scrollX != x || scrollY != y) {
            int oldX = scrollX;
            int oldY = scrollY;
            scrollX = x;
            scrollY = y;
            onScrollChanged(x, y, oldX, oldY);
            postInvalidateOnAnimation();
        }
    }

    protected void onScrollChanged(int x, int y, int oldX, int oldY) {
        TestViewRoot root = topmost().root;
        if (root != null) {
            root.scrolled();
        }
    }

    public final void measure(int width, int height) { onMeasure(width, height); }
    protected void onMeasure(int width, int height) {}

    public void layout(int left, int top, int right, int bottom) { onLayout(true, left, top, right, bottom); }
    protected void onLayout(boolean changed, int left, int top, int right, int bottom) {}

    public void draw(Canvas canvas) {
        onDraw(canvas);
        dispatchDraw(canvas);
    }

    protected void onDraw(Canvas canvas) {}
    protected void dispatchDraw(Canvas canvas) {}

    public void setOnTouchListener(OnTouchListener listener) { onTouch = listener; }

    public boolean dispatchTouchEvent(MotionEvent event) {
        return (onTouch != null && onTouch.onTouch(this, event)) || onTouchEvent(event);
    }

    public boolean onTouchEvent(MotionEvent event) { return false; }
    public boolean dispatchGenericMotionEvent(MotionEvent event) { return onGenericMotionEvent(event); }
    public boolean onGenericMotionEvent(MotionEvent event) { return false; }
    public boolean dispatchKeyEvent(KeyEvent event) { return event.dispatch(this); }
    @Override public boolean onKeyDown(int keyCode, KeyEvent event) { return false; }
    @Override public boolean onKeyLongPress(int keyCode, KeyEvent event) { return false; }
    @Override public boolean onKeyUp(int keyCode, KeyEvent event) { return false; }
    @Override public boolean onKeyMultiple(int keyCode, int count, KeyEvent event) { return false; }
}
