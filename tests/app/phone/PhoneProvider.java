package phone;

import android.content.ContentProvider;

/** A provider such as libraries have that want to be started with the app. */
public final class PhoneProvider extends ContentProvider {
    @Override
    public boolean onCreate() {
        Places.install("provider", getContext());
        Places.PROVIDER.reach();
        return true;
    }
}
