package android.app;

import android.content.Context;
import android.content.Intent;

public final class PendingIntent {
    public final Intent[] intents;
    public final int flags;

    private PendingIntent(Intent[] intents, int flags) {
        this.intents = intents;
        this.flags = flags;
    }

    public static PendingIntent getActivities(Context context, int requestCode, Intent[] intents, int flags) {
        return new PendingIntent(intents, flags);
    }
}
