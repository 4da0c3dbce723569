package android.widget;

import android.content.Context;
import android.view.View;
import android.view.ViewGroup;

/** A layout with at most one child. The scrolling layouts extend it. */
public class FrameLayout extends ViewGroup {
    public FrameLayout(Context context) {
        super(context);
    }

    @Override
    public void addView(View child) {
        if (!children.isEmpty()) {
            throw new IllegalStateException("ScrollView can host only one direct child");
        }
        super.addView(child);
    }
}
