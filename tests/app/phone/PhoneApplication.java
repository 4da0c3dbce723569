package phone;

import android.app.Application;
import android.content.Context;

/** As docs/integrate.md has it. */
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
