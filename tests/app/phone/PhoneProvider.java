package phone;

import android.content.ContentProvider;

/** A provider like those of libraries that want to be started with the app. */
public final class PhoneProvider extends ContentProvider {
    @Override
    public boolean onCreate() {
        Places.install("provider", getContext());
        Places.PROVIDER.reach();
        return true;
    }
}
