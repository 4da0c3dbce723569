package android.app;

import android.content.Context;

/** What the status bar shows. */
public class Notification {
    /** Builds a notification. */
    public static class Builder {
        /** The only constructor below API 26. */
        @Deprecated
        public Builder(Context context) {}

        /** Since API 26, with the id of a channel. */
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

    /** The layout of the notification when there is room. */
    public abstract static class Style {}

    /** The layout with a long text. */
    public static class BigTextStyle extends Style {
        public native BigTextStyle bigText(CharSequence text);
    }
}
