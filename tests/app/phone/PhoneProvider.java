package phone;

import android.content.ContentProvider;

/** As libraries have one that want to be started with the app. */
public final class PhoneProvider extends ContentProvider {
    @Override
    public boolean onCreate() {
        Places.install("provider", getContext());
        Places.PROVIDER.reach();
        return true;
    }
}
