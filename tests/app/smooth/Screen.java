package smooth;

import android.app.Activity;
import android.content.Context;
import android.view.MotionEvent;
import android.view.TestViewRoot;
import android.view.View;
import android.view.Window;
import com.android.internal.policy.PhoneWindow;

/** The app's only screen: an activity that makes its window itself. */
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
