package android.view;

import android.content.Context;
import android.graphics.Canvas;
import java.util.ArrayList;
import java.util.List;

/**
 * A view that contains views. It passes calls on to them. An event goes to these views one after the other,
 * the one that was added last first, until one of them handles it.
 */
public class ViewGroup extends View {
    private final List<View> children = new ArrayList<View>();

    public ViewGroup(Context context) {
        super(context);
    }

    public void addView(View child) {
        child.mergeObserverInto(getViewTreeObserver());
        child.parent = this;
        children.add(child);
        requestLayout();
    }

    public void removeAllViews() {
        for (View child : children) {
            child.parent = null;
        }
        children.clear();
        requestLayout();
    }

    public int getChildCount() { return children.size(); }
    public View getChildAt(int index) { return children.get(index); }

    @Override
    protected void onMeasure(int width, int height) {
        for (View child : children) {
            child.measure(width, height);
        }
    }

    @Override
    protected void onLayout(boolean changed, int left, int top, int right, int bottom) {
        for (View child : children) {
            child.layout(left, top, right, bottom);
        }
    }

    @Override
    protected void dispatchDraw(Canvas canvas) {
        for (View child : children) {
            child.draw(canvas);
        }
    }

    @Override
    public boolean dispatchTouchEvent(MotionEvent event) {
        for (int i = children.size(); i-- > 0; ) {
            if (children.get(i).dispatchTouchEvent(event)) {
                return true;
            }
        }
        return super.dispatchTouchEvent(event);
    }

    @Override
    public boolean dispatchGenericMotionEvent(MotionEvent event) {
        for (int i = children.size(); i-- > 0; ) {
            if (children.get(i).dispatchGenericMotionEvent(event)) {
                return true;
            }
        }
        return super.dispatchGenericMotionEvent(event);
    }

    @Override
    public boolean dispatchKeyEvent(KeyEvent event) {
        for (int i = children.size(); i-- > 0; ) {
            if (children.get(i).dispatchKeyEvent(event)) {
                return true;
            }
        }
        return super.dispatchKeyEvent(event);
    }
}
