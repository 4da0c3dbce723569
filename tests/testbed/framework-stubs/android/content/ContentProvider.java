package android.content;

import android.content.pm.ProviderInfo;

/**
 * As far as an app's start goes: it is made and created before Application.onCreate; it is not asked for
 * data.
 */
public abstract class ContentProvider {
    private Context context;

    public abstract boolean onCreate();

    public void attachInfo(Context context, ProviderInfo info) {
        if (this.context == null) {
            this.context = context;
            onCreate();
        }
    }

    public final Context getContext() { return context; }
}
