package android.view;

import android.content.Context;
import java.util.ArrayList;
import java.util.List;

public abstract class ViewGroup extends View {
    public final List<View> children = new ArrayList<View>();

    public ViewGroup(Context context) {
        super(context);
    }

    public void addView(View child) {
        onMain();
        children.add(child);
    }

    public void removeAllViews() {
        onMain();
        children.clear();
    }
}
