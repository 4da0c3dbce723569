package android.app;

import android.content.Context;

/** What the status bar shows. */
public class Notification {
    /** Makes one. */
    public static class Builder {
        /** The only one below API 26. */
        @Deprecated
        public Builder(Context context) {}

        /** Since API 26. */
        public Builder(Context context, String channel) {}

        public native Builder setSmallIcon(int icon);

        public native Builder setContentTitle(CharSequence title);

        public native Builder setContentText(CharSequence text);

        public native Builder setStyle(Style style);

        public native Builder setWhen(long when);

        public native Builder setShowWhen(boolean show);

        public native Builder setLocalOnly(boolean localOnly);

        public native Builder setAutoCancel(boolean autoCancel);

        public native Builder setOnlyAlertOnce(boolean onlyAlertOnce);

        public native Builder setContentIntent(PendingIntent intent);

        public native Notification build();
    }

    /** The layout when there is room. */
    public abstract static class Style {}

    /** With much text. */
    public static class BigTextStyle extends Style {
        public native BigTextStyle bigText(CharSequence text);
    }
}
