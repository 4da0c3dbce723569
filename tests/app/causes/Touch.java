package causes;

import android.app.Activity;
import android.app.Application;
import android.app.ContextImpl;
import android.content.Context;
import android.graphics.Canvas;
import android.os.SystemClock;
import android.view.MotionEvent;
import android.view.TestInput;
import android.view.TestViewRoot;
import android.view.View;
import android.view.Window;
import com.android.internal.policy.PhoneWindow;
import java.io.File;

/** A screen that computes for ever when it is touched. */
final class Touch implements Runnable {
    private final File folder;

    Touch(File folder) {
        this.folder = folder;
    }

    @Override
    public void run() {
        ContextImpl context = new ContextImpl(folder, "com.example.causes", "com.example.causes");
        Application application = new Application();
        application.attach(context);
        context.application = application;
        Screen screen = new Screen(context);
        application.show(screen);
        new TestViewRoot(screen.getWindow());
    }

    private static void tap() {
        long now = SystemClock.uptimeMillis();
        TestInput.inject(MotionEvent.obtain(now, now, MotionEvent.ACTION_DOWN, 10, 10, 0));
    }

    private static final class Screen extends Activity {
        private final Window window;

        Screen(Context context) {
            window = new PhoneWindow(context);
            window.setCallback(this);
            window.setContentView(new Chart(context));
        }

        @Override
        public Window getWindow() {
            return window;
        }

        @Override
        public boolean dispatchTouchEvent(MotionEvent event) {
            return window.superDispatchTouchEvent(event);
        }
    }

    /** A view that is touched as soon as it is shown. */
    private static final class Chart extends View {
        private boolean shown;

        Chart(Context context) {
            super(context);
        }

        @Override
        protected void onDraw(Canvas canvas) {
            if (!shown) {
                shown = true;
                Causes.reportAfter(Causes.HANG_MS);
                tap();
            }
        }

        @Override
        public boolean onTouchEvent(MotionEvent event) {
            Causes.Invoice.render();
            return true;
        }
    }
}
