package phone;

import android.app.Activity;
import android.os.Bundle;
import android.view.ViewTreeObserver;
import scenario.Script;

/** The app's only screen. */
public final class PhoneActivity extends Activity {
    @Override
    protected void onCreate(Bundle state) {
        PageView page = new PageView(this);
        setContentView(page);
        page.getViewTreeObserver()
                .addOnScrollChangedListener(
                        new ViewTreeObserver.OnScrollChangedListener() {
                            private boolean seen;

                            @Override
                            public void onScrollChanged() {
                                if (!seen) {
                                    seen = true;
                                    Script.say("the page scrolls");
                                }
                            }
                        });
        Places.ACTIVITY.reach();
    }
}
