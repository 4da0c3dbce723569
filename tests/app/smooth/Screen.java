package smooth;

import android.app.Activity;
import android.content.Context;
import android.view.MotionEvent;
import android.view.TestViewRoot;
import android.view.View;
import android.view.Window;
import com.android.internal.policy.PhoneWindow;

/** The app's only screen, in a separate window. */
final class Screen extends Activity {
    private final Window window;

    Screen(Context context, View content) {
        window = new PhoneWindow(context);
        window.setCallback(this);
        window.setContentView(content);
    }

    @Override
    public Window getWindow() {
        return window;
    }

    @Override
    public boolean dispatchTouchEvent(MotionEvent event) {
        return window.superDispatchTouchEvent(event);
    }

    void makeShown() {
        new TestViewRoot(window);
    }
}
