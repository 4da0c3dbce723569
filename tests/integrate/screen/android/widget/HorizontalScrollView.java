package android.widget;

import android.content.Context;

public class HorizontalScrollView extends FrameLayout {
    public HorizontalScrollView(Context context) {
        super(context);
    }
}
