package android.content;

import android.content.pm.ProviderInfo;

/**
 * The part of a ContentProvider that an app's start needs: it is created before Application.onCreate. It is
 * not asked for data.
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
