package android.view;

import android.app.Phone;
import android.content.Context;
import android.graphics.Canvas;

/** A view of the screen. It is used on the main thread alone. */
public class View {
    public interface OnClickListener {
        void onClick(View view);
    }

    public static class MeasureSpec {
        public static int getSize(int spec) {
            return spec;
        }
    }

    private OnClickListener listener;
    private CharSequence description;
    private int width;
    private int height;

    public View(Context context) {
        onMain();
    }

    static void onMain() {
        if (!Phone.isMain()) {
            throw new IllegalStateException("Only the original thread that created a view hierarchy can touch its views.");
        }
    }

    public void setPadding(int left, int top, int right, int bottom) {
        onMain();
    }

    public void setFitsSystemWindows(boolean fits) {
        onMain();
    }

    public void setContentDescription(CharSequence description) {
        this.description = description;
    }

    public CharSequence getContentDescription() {
        return description;
    }

    public void setOnClickListener(OnClickListener listener) {
        onMain();
        this.listener = listener;
    }

    public boolean performClick() {
        if (listener != null) {
            listener.onClick(this);
        }
        return listener != null;
    }

    protected void onMeasure(int width, int height) {}

    protected final void setMeasuredDimension(int width, int height) {
        this.width = width;
        this.height = height;
    }

    protected void onDraw(Canvas canvas) {}

    public final int getWidth() {
        return width;
    }

    /** Lays it out as a window does: with this width, and as high as it wants to be. */
    public final void show(int wide) {
        onMeasure(wide, 0);
        System.out.println("view " + width + " x " + height);
        onDraw(new Canvas());
    }
}
