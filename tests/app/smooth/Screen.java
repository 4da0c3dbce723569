package smooth;

import android.app.Activity;
import android.content.Context;
import android.view.MotionEvent;
import android.view.TestViewRoot;
import android.view.Window;
import com.android.internal.policy.PhoneWindow;

/** The only screen, in a window of its own. */
final class Screen extends Activity {
    final Feed feed;
    private final Window window;

    Screen(Context context) {
        window = new PhoneWindow(context);
        window.setCallback(this);
        feed = new Feed(context);
        window.setContentView(feed);
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
