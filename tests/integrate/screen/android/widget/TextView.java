package android.widget;

import android.content.Context;
import android.graphics.Typeface;
import android.view.View;

public class TextView extends View {
    private CharSequence text = "";

    public TextView(Context context) {
        super(context);
    }

    public final void setText(CharSequence text) {
        this.text = text;
    }

    public CharSequence getText() {
        return text;
    }

    public void setTextSize(float size) {}

    public void setTypeface(Typeface typeface) {}

    public void setTextIsSelectable(boolean is) {}

    public void setMaxLines(int most) {}
}
