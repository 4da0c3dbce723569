package phone;

import android.app.Application;
import android.content.Context;

/** The Application as in docs/integrate.md. */
public final class PhoneApplication extends Application {
    @Override
    protected void attachBaseContext(Context base) {
        super.attachBaseContext(base);
        Places.ATTACH_BEFORE.reach();
        Places.install("attach", this);
        Places.ATTACH_AFTER.reach();
    }

    @Override
    public void onCreate() {
        Places.install("onCreate", this);
        Places.APPLICATION.reach();
    }
}
